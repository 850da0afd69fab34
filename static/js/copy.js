// [data-copy="text"]: copy the text, show a tick for a moment and say so to screen readers.
export function bindCopy(root) {
  root.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const icon = button.querySelector("use");
    button.dataset.icon ??= icon?.getAttribute("href") ?? "";
    const done = await copyText(button.dataset.copy);
    button.classList.toggle("done", done);
    icon?.setAttribute("href", done ? "#i-check" : "#i-danger");
    const label = button.getAttribute("aria-label");
    button.setAttribute("aria-label", done ? "Copied" : "Copying is not allowed here");
    setTimeout(() => {
      button.classList.remove("done");
      icon?.setAttribute("href", button.dataset.icon);
      button.setAttribute("aria-label", label);
    }, 1500);
  });
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

// plain http on a local network has no clipboard API
function copyBySelection(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
