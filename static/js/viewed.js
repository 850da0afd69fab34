// Viewed marks, kept in this browser by the pair of contents, and the filter over the list of files.
const PLACE = "benchsite.viewed";
const KEPT = 2000;

export function bindViewed(sheets) {
  const seen = recall();
  apply(sheets, seen);
  sheets.addEventListener("diff:loaded", () => apply(sheets, seen));
  sheets.addEventListener("change", (event) => {
    if (!event.target.matches("[data-viewed-tick]")) return;
    const file = event.target.closest(".file-box").querySelector(".file");
    const key = file.dataset.viewed;
    if (event.target.checked) seen.add(key);
    else seen.delete(key);
    file.open = !event.target.checked;
    keep(seen);
    apply(sheets, seen);
  });
  bindFilter(sheets);
  bindPlace(sheets);
}

// the list marks the file that stands at the top of the window, and keeps it in sight
function bindPlace(sheets) {
  const list = sheets.querySelector(".diff-files");
  if (!list) return;
  const seen = new IntersectionObserver(
    (entries) => {
      const here = entries.findLast((entry) => entry.isIntersecting);
      if (here) mark(list, here.target.querySelector(".file").id);
    },
    { rootMargin: "-60px 0px -90% 0px" },
  );
  const watch = () => {
    for (const box of sheets.querySelectorAll(".file-box")) seen.observe(box);
  };
  watch();
  sheets.addEventListener("diff:loaded", watch);
}

function mark(list, id) {
  const link = list.querySelector(`a[href="#${id}"]`);
  for (const old of list.querySelectorAll("a.on")) old.classList.toggle("on", old === link);
  if (!link) return;
  link.classList.add("on");
  const { top, bottom } = list.getBoundingClientRect();
  const place = link.getBoundingClientRect();
  if (place.top < top || place.bottom > bottom) list.scrollTop += place.top - (top + bottom) / 2;
}

function apply(sheets, seen) {
  const links = [...sheets.querySelectorAll("[data-file-link]")];
  for (const link of links) link.classList.toggle("seen", seen.has(link.dataset.fileLink));
  for (const file of sheets.querySelectorAll(".file")) {
    const tick = file.closest(".file-box").querySelector("[data-viewed-tick]");
    if (tick) tick.checked = seen.has(file.dataset.viewed);
  }
  const count = sheets.querySelector("[data-viewed-count]");
  if (!count) return;
  const many = links.filter((link) => link.classList.contains("seen")).length;
  count.hidden = many === 0;
  count.textContent = `${many} of ${links.length} viewed`;
}

function bindFilter(sheets) {
  const filter = sheets.querySelector("[data-filter-files]");
  filter?.addEventListener("input", () => {
    const wanted = filter.value.trim().toLowerCase();
    for (const group of sheets.querySelectorAll(".files-group")) group.hidden = filterGroup(group, wanted) === 0;
  });
}

// shows the files whose path holds what is wanted, and the folders on the way to them; gives how many files are left
function filterGroup(group, wanted) {
  const items = [...group.querySelectorAll("li")];
  const way = [];
  let shown = 0;
  for (const item of items) {
    const depth = depthOf(item);
    way.length = Math.min(way.length, depth);
    if (item.matches(".folder")) {
      item.hidden = true;
      way[depth] = item;
      continue;
    }
    const path = [...way, item].map((one) => one.querySelector(".file-name").textContent).join("");
    item.hidden = !path.toLowerCase().includes(wanted);
    if (item.hidden) continue;
    shown += 1;
    for (const folder of way) folder.hidden = false;
  }
  return shown;
}

function depthOf(item) {
  return Number(/(?:^| )d(\d+)/.exec(item.className)?.[1] ?? 0);
}

function recall() {
  try {
    return new Set(JSON.parse(localStorage.getItem(PLACE) ?? "[]"));
  } catch {
    return new Set();
  }
}

function keep(seen) {
  try {
    localStorage.setItem(PLACE, JSON.stringify([...seen].slice(-KEPT)));
  } catch {
    // storage may be closed to us; the marks then last as long as the page
  }
}
