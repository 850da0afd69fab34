// Single keys on the diff page. They can be switched off, and never act while something is being typed.
const OFF = "benchsite.keys.off";

export function bindKeys(root) {
  const list = root.querySelector("[data-keys]");
  const off = list?.querySelector("[data-keys-off]");
  if (off) {
    off.checked = isOff();
    off.addEventListener("change", () => switchOff(off.checked));
  }
  root.querySelector("[data-keys-open]")?.addEventListener("click", () => list?.showModal());
  root.addEventListener("keydown", (event) => {
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      event.target.closest("input:not([type=checkbox]), textarea, select, dialog")
    )
      return;
    if (event.key === "?") list?.showModal();
    else if (!isOff()) act(root, event);
  });
}

function act(root, event) {
  const files = [...root.querySelectorAll(".file")];
  const place = current(files);
  const deeds = {
    j: () => go(files[Math.min(place + 1, files.length - 1)]),
    k: () => go(files[Math.max(place - 1, 0)]),
    n: () => change(root, 1),
    p: () => change(root, -1),
    e: () => (files[Math.max(place, 0)].open = !files[Math.max(place, 0)].open),
    E: () => foldAll(files),
    v: () => files[Math.max(place, 0)].closest(".file-box").querySelector("[data-viewed-tick]")?.click(),
    s: () => other(root, "view"),
    w: () => other(root, "blanks"),
    ".": () => other(root, "context"),
    t: () => root.querySelector("[data-filter-files]")?.focus(),
  };
  if (!deeds[event.key] || !files.length) return;
  event.preventDefault();
  deeds[event.key]();
}

function foldAll(files) {
  const open = !files.some((file) => file.open);
  for (const file of files) file.open = open;
}

// the file under the reader's eyes: the one they went to while it is in sight, else the last that begins above the
// upper third
function current(files) {
  const eye = innerHeight / 3;
  const chosen = files.indexOf(document.activeElement?.closest(".file"));
  const top = chosen < 0 ? eye : files[chosen].getBoundingClientRect().top;
  if (top > -4 && top < eye) return chosen;
  return files.findLastIndex((file) => file.getBoundingClientRect().top < eye);
}

function go(file) {
  if (!file) return;
  file.scrollIntoView({ block: "start" });
  file.querySelector("summary").focus({ preventScroll: true });
}

function change(root, step) {
  const first = [...root.querySelectorAll(".diff tr")].filter((row) => isChange(row) && !isChange(before(row)));
  const eye = 100; // below the sticky head, with room for three lines of context
  const tops = first.map((row) => row.getBoundingClientRect().top);
  const place = step > 0 ? tops.findIndex((top) => top > eye + 4) : tops.findLastIndex((top) => top < eye - 4);
  if (place < 0) return;
  scrollBy({ top: tops[place] - eye });
}

// the row above, across the border of a chunk
function before(row) {
  return row.previousElementSibling ?? row.closest(".chunk")?.previousElementSibling?.querySelector("tr:last-child");
}

function isChange(row) {
  return row?.querySelector(":scope > .a, :scope > .d") != null;
}

function other(root, name) {
  const choices = [...root.querySelectorAll(`[data-option="${name}"]`)];
  const on = choices.findIndex((choice) => choice.hasAttribute("aria-current"));
  choices[(on + 1) % choices.length]?.click();
}

function isOff() {
  try {
    return localStorage.getItem(OFF) === "1";
  } catch {
    return false;
  }
}

function switchOff(off) {
  try {
    localStorage.setItem(OFF, off ? "1" : "0");
  } catch {
    // not kept; the box shows it for this page
  }
}
