// What is not on the page yet: files further down, the rest of long ones, folds, whole lines. Each has an address.

const EARLY = "600px";

export function bindLoad(sheets) {
  sheets.addEventListener("toggle", (event) => event.target.open && load(event.target, "click"), true);
  watch(sheets);
  sheets.addEventListener("diff:loaded", (event) => watch(event.target));
}

// files and rows below the first ones are fetched shortly before they come into view
const seen = new IntersectionObserver(
  (entries) => {
    for (const one of entries) {
      if (!one.isIntersecting) continue;
      seen.unobserve(one.target);
      if (one.target.dataset.lazy === "more") more(one.target);
      else load(one.target, "reveal");
    }
  },
  { rootMargin: EARLY },
);

function watch(part) {
  for (const one of part.querySelectorAll('[data-lazy="reveal"], [data-lazy="more"]')) seen.observe(one);
}

// who asks for the same part twice waits for the same answer
const going = new WeakMap();

function once(part, fetchIt) {
  if (!going.has(part))
    going.set(
      part,
      fetchIt().finally(() => going.delete(part)),
    );
  return going.get(part);
}

// brings a file onto the page, whatever it waits for; gives the element that stands there afterwards
export async function load(file, when = file.dataset.lazy) {
  if (file.dataset.lazy !== when || !["reveal", "click"].includes(when)) return file;
  return once(file, async () => {
    const made = await markup(file.dataset.part);
    const fresh = made?.querySelector("details.file");
    if (!fresh) return failed(file);
    // what its reader folded while it was on the way stays folded
    if (when === "reveal" && !file.open) fresh.open = false;
    file.closest(".file-box").replaceWith(fresh.closest(".file-box"));
    loaded(fresh);
    return fresh;
  });
}

// the rows of a long file that follow those shown
export function more(wait) {
  return once(wait, async () => {
    const file = wait.closest(".file");
    const made = await markup(wait.dataset.part);
    if (!made) return failed(wait);
    wait.replaceWith(...made.children);
    loaded(file);
  });
}

export async function openFold(link, show = link.dataset.show) {
  const address = new URL(link.href);
  address.hash = "";
  address.searchParams.delete("from");
  address.searchParams.set("part", "rows");
  address.searchParams.set("fold", link.dataset.fold);
  if (show) address.searchParams.set("show", show);
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

// a line that was cut is shown whole
export async function wholeLine(link) {
  const text = await fetchText(link.dataset.cut);
  if (text) link.closest("td").innerHTML = text;
  else location.assign(link.href);
}

async function markup(address, inside = "div") {
  const text = await fetchText(address);
  if (text === null) return null;
  const holder = document.createElement("template");
  holder.innerHTML = inside === "tbody" ? `<table><tbody>${text}</tbody></table>` : text;
  return inside === "tbody" ? holder.content.querySelector("tbody") : holder.content;
}

async function fetchText(address) {
  try {
    const answer = await fetch(address, { headers: { "X-Requested-With": "fetch" } });
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}

function loaded(part) {
  part.dispatchEvent(new CustomEvent("diff:loaded", { bubbles: true }));
}

function failed(part) {
  const wait = part.matches(".file-wait") ? part : part.querySelector(".file-wait");
  if (wait && !wait.dataset.failed) wait.prepend("This could not be fetched. ");
  if (wait) wait.dataset.failed = "1";
  return part;
}
