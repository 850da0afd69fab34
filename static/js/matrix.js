// .matrix: arrow keys go from square to square.
export function bindMatrix(root) {
  for (const table of root.querySelectorAll("table.matrix")) {
    table.addEventListener("keydown", (event) => move(event));
  }
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
