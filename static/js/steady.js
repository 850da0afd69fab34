// <div data-steady>: what stands above the rows of a running run grows and shrinks, the rows below it never jump.
const ROOM = 40; // a notice more

// Its height is what it holds and room for a notice; what does not fit any more is scrolled to inside of it. It fits
// again when its end is out of sight below, where nobody sees what that moves, and when the reader's own act changes it.
function fit(box, asked) {
  if (!asked && box.getBoundingClientRect().bottom < innerHeight) return;
  box.style.height = `${box.firstElementChild.offsetHeight + ROOM}px`;
}

export function bindSteady(root) {
  for (const box of root.querySelectorAll("[data-steady]")) {
    fit(box, true);
    box.addEventListener("toggle", () => fit(box, true), true);
    addEventListener("resize", () => fit(box, true));
    root.addEventListener("htmx:after:swap", () => fit(box, false));
  }
}
