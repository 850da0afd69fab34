// Ctrl-K (or Cmd-K, or "/") opens a dialog over any page: type, arrows choose, Enter goes. The hits are the search
// page's own part; without scripts the header's link leads to that page.
const WAIT = 120;

function make(url) {
  const dialog = document.createElement("dialog");
  dialog.className = "palette";
  dialog.setAttribute("aria-label", "Search");
  const input = document.createElement("input");
  input.type = "search";
  input.maxLength = 100;
  input.placeholder = "Search";
  input.setAttribute("aria-label", "Search");
  const hits = document.createElement("div");
  hits.className = "palette-hits";
  hits.setAttribute("aria-live", "polite");
  dialog.append(input, hits);
  document.body.append(dialog);

  let timer = 0;
  let asked = 0;
  const look = async () => {
    const mine = ++asked;
    const answer = await fetch(`${url}?part=hits&q=${encodeURIComponent(input.value)}`).catch(() => null);
    if (mine !== asked) return; // a later question is on its way
    if (answer?.ok) hits.innerHTML = await answer.text();
    else hits.textContent = "The search cannot be reached.";
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, WAIT);
  });
  dialog.addEventListener("keydown", (event) => move(event, input, hits, url));
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  return { dialog, input, look };
}

function move(event, input, hits, url) {
  const links = [...hits.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  if (event.key === "ArrowDown") (links[at + 1] ?? links[0])?.focus();
  else if (event.key === "ArrowUp") (at > 0 ? links[at - 1] : input).focus();
  else if (event.key === "Enter" && at < 0) location.href = `${url}?q=${encodeURIComponent(input.value)}`;
  else return;
  event.preventDefault();
}

export function bindPalette(root) {
  const link = root.querySelector("[data-palette]");
  if (!link) return;
  let palette;
  const open = () => {
    palette ??= make(link.getAttribute("href"));
    palette.dialog.showModal();
    palette.input.select();
    palette.look();
  };
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  root.addEventListener("keydown", (event) => {
    const wanted = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
    if (!wanted || event.altKey || event.shiftKey) return;
    event.preventDefault();
    if (!palette?.dialog.open) open();
  });
}
