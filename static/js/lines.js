// Lines of a file or a log: Shift-click on a second number makes a range, #L10-L20. One line works without script.

export function bindLines(root) {
  const view = root.querySelector(".file-lines");
  if (!view) return;
  view.addEventListener("click", (event) => {
    const link = event.target.closest("td.ln a");
    const start = location.hash.match(/^#L(\d+)/);
    if (!link || !event.shiftKey || !start) return;
    event.preventDefault();
    const ends = [Number(start[1]), Number(link.closest("tr").id.slice(1))].sort((a, b) => a - b);
    history.replaceState(null, "", `#L${ends[0]}-L${ends[1]}`);
    showRange(view);
  });
  addEventListener("hashchange", () => showRange(view));
  showRange(view)?.scrollIntoView({ block: "center" });
}

function showRange(view) {
  for (const on of view.querySelectorAll("tr.on")) on.classList.remove("on");
  const range = location.hash.match(/^#L(\d+)-L(\d+)$/);
  if (!range) return null;
  for (let line = Number(range[1]); line <= Number(range[2]); line += 1) {
    const row = view.querySelector(`#L${line}`);
    if (!row) break;
    row.classList.add("on");
  }
  return view.querySelector(`#L${range[1]}`);
}

bindLines(document);
