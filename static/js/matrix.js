// .matrix: arrow keys go from square to square, and each square with a miss leads to what a solved trial did otherwise.
export function bindMatrix(root) {
  const inside = (act) => (event) => event.target.closest?.("table.matrix") && act(event);
  root.addEventListener("keydown", inside(move));
  for (const come of ["pointerover", "focusin"])
    root.addEventListener(
      come,
      inside((event) => versus(event.target)),
    );
}

const KEYS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function move(event) {
  const step = KEYS[event.key];
  const cell = event.target.closest("td");
  if (!step || !cell || event.ctrlKey || event.metaKey || event.altKey) return;
  let row = cell.parentElement;
  if (step[0]) row = step[0] < 0 ? row.previousElementSibling : row.nextElementSibling;
  const link = row?.cells[cell.cellIndex + step[1]]?.querySelector("a");
  if (!link) return;
  event.preventDefault();
  link.focus();
}

// thousands of squares would make a page a third larger by a second link each: those get it when a reader comes
function versus(target) {
  const link = target.closest("tbody td")?.querySelector("a:only-of-type");
  const [, solved, counted] = /^(\d+)\/(\d+)$/.exec(link?.textContent ?? "") ?? [];
  if (!link || link.href.includes("/versus?") || Number(solved) >= Number(counted) || !solved) return;
  const there = document.createElement("a");
  there.className = "vs";
  there.href = link.href.replace("/trials?", "/versus?");
  there.textContent = "≠";
  link.parentElement.append(there);
}
