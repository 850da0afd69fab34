// The diff page: fetches what is not on it yet, opens folds, keeps a selection on one side. Reading works without it.

import { bindKeys } from "./diffkeys.js";
import { bindViewed } from "./viewed.js";

const EARLY = "600px";

export function bindDiff(root) {
  const sheets = root.querySelector("[data-diff]");
  if (!sheets) return;
  sheets.addEventListener("click", (event) => {
    const fold = event.target.closest("[data-fold]");
    if (fold && !modified(event)) {
      event.preventDefault();
      openFold(fold);
    }
    const number = event.target.closest("td.n a");
    if (number && event.shiftKey) {
      event.preventDefault();
      range(number.closest("td"));
    }
  });
  sheets.addEventListener("mousedown", (event) => oneSide(event));
  sheets.addEventListener("toggle", (event) => event.target.open && load(event.target, "click"), true);
  reveal(sheets);
  bindViewed(sheets);
  bindKeys(root);
  showRange();
  addEventListener("hashchange", showRange);
}

function modified(event) {
  return event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0;
}

// files below the first ones are fetched shortly before they come into view
function reveal(sheets) {
  const watch = new IntersectionObserver(
    (seen) => {
      for (const one of seen) if (one.isIntersecting) load(one.target, "reveal");
    },
    { rootMargin: EARLY },
  );
  for (const file of sheets.querySelectorAll('[data-lazy="reveal"]')) watch.observe(file);
}

async function load(file, when) {
  if (file.dataset.lazy !== when || file.dataset.loading) return;
  file.dataset.loading = "1";
  const made = await markup(file.dataset.part);
  if (!made) return failed(file);
  const fresh = made.querySelector("details.file");
  if (!fresh) return failed(file);
  file.replaceWith(fresh);
  fresh.dispatchEvent(new CustomEvent("diff:loaded", { bubbles: true }));
}

async function openFold(link) {
  const address = new URL(link.href);
  address.hash = "";
  address.searchParams.set("part", "rows");
  address.searchParams.set("fold", link.dataset.fold);
  const row = link.closest("tr");
  const made = await markup(address, "tbody");
  if (!made?.children.length) {
    location.assign(link.href);
    return;
  }
  const first = made.querySelector("td.n a");
  row.replaceWith(...made.children);
  first?.focus({ preventScroll: true });
}

async function markup(address, inside = "div") {
  try {
    const answer = await fetch(address, { headers: { "X-Requested-With": "fetch" } });
    if (!answer.ok) return null;
    const text = await answer.text();
    const holder = document.createElement("template");
    holder.innerHTML = inside === "tbody" ? `<table><tbody>${text}</tbody></table>` : text;
    return inside === "tbody" ? holder.content.querySelector("tbody") : holder.content;
  } catch {
    return null;
  }
}

function failed(file) {
  delete file.dataset.loading;
  const wait = file.querySelector(".file-wait");
  if (wait) wait.prepend("The diff could not be fetched. ");
}

// copying takes one side: the other one is not selectable while the mouse is down in this one
function oneSide(event) {
  const cell = event.target.closest(".diff.split td.t");
  const file = event.target.closest(".file");
  if (!file) return;
  if (!cell) delete file.dataset.select;
  else file.dataset.select = cell.cellIndex > 2 ? "new" : "old";
}

// Shift-click on a second number makes a range: #f9c1e-R120-R128
function range(cell) {
  const start = location.hash.slice(1).split("-");
  const [file, end] = cell.id.split("-");
  const same = start[0] === file && start[1]?.[0] === end[0];
  const ends = same ? [start[1], end].sort((a, b) => a.slice(1) - b.slice(1)) : [end];
  history.replaceState(null, "", `#${[file, ...ends].join("-")}`);
  showRange();
}

function showRange() {
  for (const on of document.querySelectorAll(".diff td.on")) on.classList.remove("on");
  const [file, from, to] = location.hash.slice(1).split("-");
  if (!to || from[0] !== to[0]) return;
  for (let line = Number(from.slice(1)); line <= Number(to.slice(1)); line += 1) {
    let cell = document.getElementById(`${file}-${from[0]}${line}`);
    for (let n = 0; n < 3 && cell; n += 1, cell = cell.nextElementSibling) cell.classList.add("on");
  }
  document.getElementById(`${file}-${from}`)?.scrollIntoView({ block: "center" });
}

bindDiff(document);
