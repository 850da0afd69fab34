// Addresses of lines: a line is brought onto the page if it is not there, a range is marked, shift-click makes one.
import { load, more, openFold } from "./diffload.js";

const AROUND = 10;

export function bindLines(sheets) {
  showRange(sheets);
  addEventListener("hashchange", () => showRange(sheets));
}

// Shift-click on a second number makes a range: #f9c1e-R120-R128
export function range(sheets, cell) {
  const start = location.hash.slice(1).split("-");
  const [file, end] = cell.id.split("-");
  const same = start[0] === file && start[1]?.[0] === end[0];
  const ends = same ? [start[1], end].sort((a, b) => a.slice(1) - b.slice(1)) : [end];
  history.replaceState(null, "", `#${[file, ...ends].join("-")}`);
  showRange(sheets);
}

export async function goTo(id) {
  const cell = await reach(id);
  if (!cell) return null;
  if (location.hash === `#${id}`) cell.scrollIntoView({ block: "center" });
  else location.hash = id;
  return cell;
}

async function showRange(sheets) {
  for (const on of document.querySelectorAll(".diff td.on")) on.classList.remove("on");
  const [name, from, to] = location.hash.slice(1).split("-");
  if (!/^f[0-9a-f]{7}$/.test(name ?? "") || !document.getElementById(name)) return;
  if (!from) return openFile(document.getElementById(name));
  const known = document.getElementById(`${name}-${from}`);
  const first = known ?? (await reach(`${name}-${from}`));
  if (to && from[0] === to[0]) await markRange(name, from, to);
  if (first && (to || !known)) settle(sheets, first);
}

async function openFile(file) {
  const there = await load(await load(file));
  there.open = true;
  if (there !== file) there.scrollIntoView();
}

// what is laid out only when it comes near moves what stands below it: look once more when all is in place
function settle(sheets, cell) {
  if (!sheets.contains(cell)) return;
  cell.classList.add("on");
  for (let n = 0, next = cell; n < 3 && next; n += 1, next = next.nextElementSibling) next.classList.add("on");
  cell.scrollIntoView({ block: "center" });
  requestAnimationFrame(() => requestAnimationFrame(() => cell.scrollIntoView({ block: "center" })));
}

async function markRange(name, from, to) {
  await reach(`${name}-${to}`);
  for (let line = Number(from.slice(1)); line <= Number(to.slice(1)); line += 1) {
    let cell = document.getElementById(`${name}-${from[0]}${line}`);
    for (let n = 0; n < 3 && cell; n += 1, cell = cell.nextElementSibling) cell.classList.add("on");
  }
}

// gives the cell of a line; fetches its file, the rows after those shown, and what is folded around it
async function reach(id) {
  const [name, line] = id.split("-");
  let file = document.getElementById(name);
  if (!file || !/^[LR]\d+$/.test(line)) return null;
  // one further down is fetched, and may then turn out to be folded
  file = await load(await load(file));
  file.open = true;
  for (let tries = 0; tries < 8 && !document.getElementById(id); tries += 1) {
    const fold = foldOf(file, line[0], Number(line.slice(1)));
    const rest = file.querySelector('[data-lazy="more"]');
    if (fold) await openFold(fold.link, fold.show);
    else if (!rest) break;
    else await more(rest);
    if (rest?.isConnected && rest.dataset.failed) break;
  }
  return document.getElementById(id);
}

function foldOf(file, side, number) {
  for (const link of file.querySelectorAll("a[data-fold]:not([data-show])")) {
    const [old, fresh, count] = link.dataset.fold.split(",").map(Number);
    const at = number - (side === "L" ? old : fresh);
    if (at >= 0 && at < count) return { link, show: `${Math.max(0, at - AROUND)},${at + AROUND + 1}` };
  }
  return null;
}
