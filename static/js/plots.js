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

for (const figure of document.querySelectorAll("figure[data-plot]")) shown.observe(figure);

async function draw(figure) {
  try {
    const [answer] = await Promise.all([fetch(figure.dataset.plot), library(figure.dataset)]);
    if (!answer.ok) throw new Error(`${answer.status}`);
    const table = await answer.json();
    paint(figure, table);
    new MutationObserver(() => paint(figure, table)).observe(document.documentElement, {
      attributeFilter: ["data-theme"],
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => paint(figure, table));
  } catch {
    figure.textContent = "The chart cannot be drawn now; the table has its figures.";
  }
}

// among more than these only the frontier is named on the chart: the others say their names when pointed at
const CROWD = 14;

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
  const ink = { ...colours(figure), side: sides(figure, spots) };
  const line = { x: best.map((row) => row.x), y: best.map((row) => row.y), mode: "lines", hoverinfo: "skip" };
  const traces = [
    { ...line, line: { shape: "hv", color: ink.link, width: 1.5, dash: "dot" } },
    points(best, ink.link, "circle", table, ink),
    points(rest, ink.muted, "circle-open", table, ink, spots.length <= CROWD),
  ];
  const options = { displayModeBar: false, responsive: true };
  window.Plotly.react(figure, traces, layout(figure, spots, table, ink), options);
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

/** A name stands right of its dot, or left of it where it would be cut at the edge. */
function sides(figure, spots) {
  const most = Math.max(...spots.map((row) => row.x_hi ?? row.x));
  const room = (row) => (1 - row.x / most) * (figure.clientWidth - 120) + 60;
  return (row) => (row.title.length * 7 > room(row) ? "top left" : "top right");
}

function points(rows, colour, symbol, table, ink, named = true) {
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
    text: rows.map((row) => escaped(row.title)),
    mode: named ? "markers+text" : "markers",
    cliponaxis: false,
    textposition: rows.map(ink.side),
    textfont: { size: 11, color: ink.text },
    marker: { size: 9, color: colour, symbol, line: { width: 1.5, color: colour } },
    error_x: whisker("x_lo", "x_hi", "x"),
    error_y: whisker("y_lo", "y_hi", "y"),
    hovertemplate: `%{text}<br>${table.x}: %{x:.3~g}<br>${escaped(table.y)}: %{y:${table.rate ? ".0%" : ".3~g"}}<extra></extra>`,
  };
}

function layout(figure, spots, table, ink) {
  const xs = spots.map((row) => row.x).filter((x) => x > 0);
  const wide = xs.length === spots.length && Math.max(...xs) > 10 * Math.min(...xs);
  const units = { cost: "cost a trial ($)", seconds: "time a trial (s)", tokens: "tokens a trial" };
  const axis = { color: ink.muted, gridcolor: ink.hairline, zeroline: false, linecolor: ink.hairline };
  return {
    height: figure.clientHeight,
    showlegend: false,
    margin: { l: 56, r: 64, t: 16, b: 48 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: ink.font, size: 12, color: ink.text },
    xaxis: { ...axis, title: { text: units[table.x] }, ...(wide ? { type: "log" } : { rangemode: "tozero" }) },
    yaxis: {
      ...axis,
      title: { text: escaped(table.y) },
      ...(table.rate ? { tickformat: ".0%", range: [-0.04, 1.08] } : {}),
    },
    hoverlabel: { bgcolor: ink.bg, font: { color: ink.text } },
  };
}

// the library reads a little HTML in texts, and names come from strangers
function escaped(text) {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
