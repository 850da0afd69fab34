// The diff page: what a click on it does, and a selection that stays on one side. Reading works without it.

import { bindKeys } from "./diffkeys.js";
import { bindLines, goTo, range } from "./difflines.js";
import { bindLoad, more, openFold, wholeLine } from "./diffload.js";
import { bindPictures } from "./pictures.js";
import { bindViewed } from "./viewed.js";

export function bindDiff(root) {
  const sheets = root.querySelector("[data-diff]");
  if (!sheets) return;
  sheets.addEventListener("click", (event) => click(sheets, event));
  sheets.addEventListener("mousedown", (event) => oneSide(event));
  for (const bind of [bindLoad, bindViewed, bindPictures, bindLines]) bind(sheets);
  bindKeys(root);
}

function click(sheets, event) {
  const number = event.target.closest("td.n a");
  if (number && event.shiftKey) {
    event.preventDefault();
    range(sheets, number.closest("td"));
  }
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  const deed = deedOf(event.target);
  if (!deed) return;
  event.preventDefault();
  deed();
}

function deedOf(target) {
  const fold = target.closest("[data-fold]");
  if (fold) return () => openFold(fold);
  const cut = target.closest("[data-cut]");
  if (cut) return () => wholeLine(cut);
  const line = target.closest("[data-line], .map a");
  if (line) return goes(line.hash?.slice(1) ?? line.href.baseVal.slice(1));
  const rest = target.closest('[data-lazy="more"] a');
  if (rest) return () => more(rest.closest("[data-lazy]"));
  const next = target.closest("[data-next-danger]");
  return next && (() => nextDanger(next.closest("[data-dangers]")));
}

// a line of a file that is not on this page is left to its link
function goes(id) {
  return document.getElementById(id.split("-")[0]) && (() => goTo(id));
}

// walks the lines with hidden characters, from the last one gone to; after the last comes the first again
function nextDanger(banner) {
  const lines = [...banner.querySelectorAll("[data-line]")];
  const place = (Number(banner.dataset.at ?? -1) + 1) % lines.length;
  banner.dataset.at = place;
  goTo(lines[place].hash.slice(1));
}

// copying takes one side: the other one is not selectable while the mouse is down in this one
function oneSide(event) {
  const cell = event.target.closest(".diff.split td.t");
  const file = event.target.closest(".file");
  if (!file) return;
  if (!cell) delete file.dataset.select;
  else file.dataset.select = cell.cellIndex > 2 ? "new" : "old";
}

bindDiff(document);
