const stored = JSON.parse(document.getElementById("posgeom-charts").textContent);
const MIN_PANEL = 150, MAX_PANEL = 400, AXES = 70, LEGEND = 80, NARROW = 640;

/* A spec for the width there is. Which way it gives is said by the layout of its figure. */
const fits = {
  wide(spec, width) {
    return { ...spec, width: Math.min(width, 900), autosize: { type: "fit-x", contains: "padding" } };
  },
  square(spec, width) {
    const side = Math.max(MIN_PANEL, Math.min(width - AXES - LEGEND, 460));
    return { ...spec, width: side, height: side };
  },
  panels(spec, width) {
    const sides = spec.hconcat ? spec.hconcat.length : 1;
    const stacked = width < NARROW || sides === 1;
    const room = stacked ? width - AXES - LEGEND : (width - LEGEND - 24 * (sides - 1)) / sides - AXES;
    const side = Math.max(MIN_PANEL, Math.min(room, stacked ? 460 : MAX_PANEL));
    const panels = (spec.hconcat || [spec]).map((panel) => ({ ...panel, width: side, height: side }));
    if (sides === 1) return panels[0];
    const { hconcat, ...rest } = spec;
    return stacked ? { ...rest, vconcat: panels } : { ...rest, hconcat: panels };
  },
  grid(spec, width) {
    const side = spec.spec.width, below = width < NARROW;
    const columns = Math.floor((width - AXES - (below ? 0 : LEGEND)) / (side + 16));
    return { ...spec, columns: Math.max(1, columns), orient: below ? "bottom" : "right" };
  },
  fixed: (spec) => spec,
};

/* A sentence, or rows of name and value; names with an underscore are places in the drawing. */
function hovered(value, sanitize) {
  if (typeof value !== "object") return sanitize(value);
  const rows = Object.entries(value).filter(([name]) => !name.startsWith("_"));
  const told = (text) => (text === null || text === "null" ? "undefined" : text);
  const row = ([name, text]) => `<tr><td class="key">${sanitize(name)}</td><td class="value">${sanitize(told(text))}</td></tr>`;
  return `<table>${rows.map(row).join("")}</table>`;
}

async function draw(place) {
  const { spec, layout } = stored.charts[place.dataset.chart];
  const width = place.clientWidth;
  place.dataset.width = width;
  try {
    const { orient, ...fitted } = fits[layout](spec, width);
    const legend = { ...stored.config.legend, ...(orient ? { orient } : {}) };
    await vegaEmbed(place, { ...fitted, config: { ...stored.config, legend } }, {
      actions: false, ast: true, renderer: "svg", defaultStyle: false, hover: false,
      tooltip: { disableDefaultStyle: true, theme: "page", formatTooltip: hovered },
    });
    place.dataset.state = "drawn";
  } catch (error) {
    place.dataset.state = "failed";
    place.classList.add("failed");
    place.textContent = "This chart could not be drawn.";
    console.error(error);
  }
}

/* What is seen comes first, and what has thousands of cells last. */
function turn(place) {
  if (place.getBoundingClientRect().top < innerHeight) return 0;
  return place.classList.contains("panels") || place.classList.contains("grid") ? 2 : 1;
}

async function drawAll(isDue) {
  const places = [...document.querySelectorAll(".chart")].filter(isDue);
  const turns = new Map(places.map((place) => [place, turn(place)]));
  for (const place of places.sort((a, b) => turns.get(a) - turns.get(b))) {
    await draw(place);
    await new Promise((done) => setTimeout(done));
  }
  document.documentElement.dataset.charts = "drawn";
}

let queue = drawAll(() => true), waiting;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    queue = queue.then(() => drawAll((place) => Math.abs(place.clientWidth - place.dataset.width) > 8));
  }, 200);
});

/* Undefined cells come last whichever way a column is sorted. */
function sortBy(table, column, descending) {
  const cell = (row) => row.cells[column], value = (row) => cell(row).dataset.value;
  const rows = [...table.tBodies[0].rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === "" || y === "") return (x === "") - (y === "");
    const order = cell(a).dataset.kind === "text" ? x.localeCompare(y) : x - y;
    return descending ? -order : order;
  });
  table.tBodies[0].append(...rows);
}

for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), table = button.closest("table");
    const descending = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    sortBy(table, head.cellIndex, descending);
  });
}
