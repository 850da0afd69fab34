import { place } from "./labels.js";

// figure[data-plot]: when it nears the screen, draw the chart whose figures stand at that address (the table's JSON
// twin). The library is fetched only then; without it, or without script, the table beside the chart says the same.
const shown = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      shown.unobserve(entry.target);
      draw(entry.target);
    }
  },
  { rootMargin: "300px" },
);

const drawn = new Map();
const repaint = () => {
  for (const [figure, table] of drawn) paint(figure, table);
};

for (const figure of document.querySelectorAll("figure[data-plot]")) shown.observe(figure);
new MutationObserver(repaint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
// while a run goes on its figures come anew: a chart that is drawn follows them, one that was not there waits its turn
document.addEventListener("htmx:after:swap", ({ target }) => {
  for (const figure of target.querySelectorAll?.("figure[data-plot]") ?? []) {
    if (drawn.has(figure)) draw(figure);
    else shown.observe(figure);
  }
});

async function draw(figure) {
  try {
    const [answer] = await Promise.all([fetch(figure.dataset.plot), library(figure.dataset)]);
    if (!answer.ok) throw new Error(`${answer.status}`);
    drawn.set(figure, await answer.json());
    paint(figure, drawn.get(figure));
  } catch {
    if (drawn.has(figure)) return;
    figure.textContent = "The chart cannot be drawn now; the table has its figures.";
  }
}

// among more than these only the frontier is named on the chart: the others say their names when pointed at
const CROWD = 14;
const MARGIN = { l: 56, r: 64, t: 16, b: 48 };

let loading;
// The sheet's id and class tell the library that its styles are here: it would write them inline, which no page allows.
function library({ library: source, sheet }) {
  loading ??= Promise.all([
    loaded(Object.assign(document.createElement("link"), styles(sheet))),
    loaded(Object.assign(document.createElement("script"), { src: source })),
  ]);
  return loading;
}

function styles(href) {
  return { rel: "stylesheet", href, id: "plotly.js-style-global", className: "no-inline-styles" };
}

function loaded(element) {
  return new Promise((resolve, reject) => {
    element.addEventListener("load", resolve);
    element.addEventListener("error", reject);
    document.head.append(element);
  });
}

function paint(figure, table) {
  const spots = table.rows.filter((row) => row.x !== null && row.y !== null);
  const best = spots.filter((row) => row.status === "frontier").sort((a, b) => a.x - b.x);
  const rest = spots.filter((row) => row.status !== "frontier");
  const axes = { x: across(spots), y: up(spots, table) };
  const ink = { ...colours(figure), side: sides(figure, spots.length > CROWD ? best : [...best, ...rest], axes) };
  const line = { x: best.map((row) => row.x), y: best.map((row) => row.y), mode: "lines", hoverinfo: "skip" };
  const traces = [
    { ...line, line: { shape: "hv", color: ink.link, width: 1.5, dash: "dot" } },
    points(best, ink.link, "circle", table, ink),
    points(rest, ink.muted, "circle-open", table, ink),
  ];
  const options = { displayModeBar: false, responsive: true };
  window.Plotly.react(figure, traces, layout(figure, axes, table, ink), options);
}

function colours(figure) {
  const probe = document.createElement("i");
  figure.append(probe);
  const found = {};
  for (const name of ["text", "muted", "hairline", "link", "bg"]) {
    probe.className = `ink-${name}`;
    found[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return { ...found, font: getComputedStyle(figure).fontFamily };
}

/** The ends of an axis, in its own measure: powers of ten where the figures are far apart. */
function across(spots) {
  const xs = spots.map((row) => row.x);
  if (Math.min(...xs) > 0 && Math.max(...xs) > 10 * Math.min(...xs)) {
    const all = spots.flatMap((row) => [row.x, row.x_lo, row.x_hi]).filter((x) => x > 0);
    return { type: "log", range: [Math.log10(Math.min(...all)) - 0.1, Math.log10(Math.max(...all)) + 0.1] };
  }
  return { range: [0, 1.06 * Math.max(...spots.map((row) => row.x_hi ?? row.x)) || 1] };
}

function up(spots, table) {
  if (table.rate) return { tickformat: ".0%", range: [-0.08, 1.08] };
  const [least, most] = [Math.min, Math.max].map((end, i) =>
    end(...spots.map((row) => (i ? row.y_hi : row.y_lo) ?? row.y)),
  );
  const room = 0.08 * (most - least) || 1;
  return { range: [least - room, most + room] };
}

/** Which side of its dot a name stands on, by row; null where it has no room. */
function sides(figure, named, { x, y }) {
  const wide = figure.clientWidth - MARGIN.l - MARGIN.r;
  const high = figure.clientHeight - MARGIN.t - MARGIN.b;
  const share = (value, [from, to]) => (value - from) / (to - from);
  const dots = named.map((row) => ({
    x: wide * share(x.type ? Math.log10(row.x) : row.x, x.range),
    y: high * (1 - share(row.y, y.range)),
    name: row.title,
  }));
  const found = place(dots, { left: 0, right: wide + MARGIN.r, bottom: high });
  const side = new Map(named.map((row, i) => [row, found[i]]));
  return (row) => side.get(row) ?? null;
}

function points(rows, colour, symbol, table, ink) {
  const whisker = (low, high, of) => ({
    type: "data",
    symmetric: false,
    array: rows.map((row) => (row[high] === null ? 0 : row[high] - row[of])),
    arrayminus: rows.map((row) => (row[low] === null ? 0 : row[of] - row[low])),
    color: colour,
    thickness: 1,
    width: 3,
  });
  return {
    x: rows.map((row) => row.x),
    y: rows.map((row) => row.y),
    hovertext: rows.map((row) => escaped(row.title)),
    text: rows.map((row) => (ink.side(row) ? escaped(row.title) : "")),
    mode: "markers+text",
    cliponaxis: false,
    textposition: rows.map((row) => ink.side(row) ?? "top right"),
    textfont: { size: 11, color: ink.text },
    marker: { size: 9, color: colour, symbol, line: { width: 1.5, color: colour } },
    error_x: whisker("x_lo", "x_hi", "x"),
    error_y: whisker("y_lo", "y_hi", "y"),
    hovertemplate: `%{hovertext}<br>${table.x}: %{x:.3~g}<br>${escaped(table.y)}: %{y:${table.rate ? ".0%" : ".3~g"}}<extra></extra>`,
  };
}

function layout(figure, axes, table, ink) {
  const units = { cost: "cost a trial ($)", seconds: "time a trial (s)", tokens: "tokens a trial" };
  const axis = { color: ink.muted, gridcolor: ink.hairline, zeroline: false, linecolor: ink.hairline };
  return {
    height: figure.clientHeight,
    showlegend: false,
    margin: MARGIN,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: ink.font, size: 12, color: ink.text },
    xaxis: { ...axis, title: { text: units[table.x] }, ...axes.x },
    yaxis: { ...axis, title: { text: escaped(table.y) }, ...axes.y },
    hoverlabel: { bgcolor: ink.bg, font: { color: ink.text } },
  };
}

// the library reads a little HTML in texts, and names come from strangers
function escaped(text) {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
