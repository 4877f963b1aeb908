// Charts: drawn once. The slider moves their lines, and the rectangle on the map selects rows of the table.

const views = new Map();
const tip = el("div", { class: "tip", hidden: "" });

function showTip(_handler, event, _item, value) {
  tip.hidden = value === null || value === undefined;
  if (tip.hidden) return;
  tip.textContent = value;
  const left = Math.min(event.clientX + 14, document.documentElement.clientWidth - tip.offsetWidth - 8);
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${event.clientY + 14}px`;
}

async function drawCharts() {
  document.body.append(tip);
  // The interpreter reads expressions without eval, which the page's policy forbids.
  const options = {
    mode: "vega-lite", renderer: "svg", ast: true, actions: false, defaultStyle: false,
    config: report.theme, tooltip: showTip,
  };
  for (const [name, spec] of Object.entries(report.charts)) {
    const result = await vegaEmbed(document.getElementById(`chart-${name}`), spec, options);
    result.view.container().querySelector("svg").setAttribute("aria-hidden", "true"); // named by its container
    views.set(name, result.view);
  }
  // A chart that was folded away takes its width when it is opened.
  for (const folded of document.querySelectorAll(".fold")) {
    folded.addEventListener("toggle", () => window.dispatchEvent(new Event("resize")));
  }
}

function moveRules(coverage, limit) {
  for (const name of ["risk", "caught"]) views.get(name)?.signal("at", coverage).runAsync();
  views.get("errors")?.signal("limit", limit).runAsync();
}

// The rows inside the rectangle drawn on the map; null for no rectangle.
function brushedRows(view, brush) {
  if (!brush.first || !brush.second) return null;
  const within = (value, ends) => value >= Math.min(...ends) && value <= Math.max(...ends);
  const inside = (point) => within(point.first, brush.first) && within(point.second, brush.second);
  const points = view.data("points").filter(inside);
  return new Set(points.map((point) => point.row));
}

function onBrush(select) {
  const view = views.get("map");
  view?.addSignalListener("brush", later((_name, brush) => select(brushedRows(view, brush))));
}

// The rectangle around one row, a quarter of the map wide and high: the map without a mouse.
function brushAround(row) {
  const view = views.get("map");
  const point = view.data("points").find((other) => other.row === row);
  const around = (middle, size) => [Math.max(0, middle - size / 8), Math.min(size, middle + size / 8)];
  view.signal("brush_x", around(view.scale("x")(point.first), view.signal("width")));
  view.signal("brush_y", around(view.scale("y")(point.second), view.signal("height"))).runAsync();
}

function isOnMap(row) {
  return Boolean(views.get("map")?.data("points").some((point) => point.row === row));
}

function clearBrush() {
  views.get("map")?.signal("brush_x", [0, 0]).signal("brush_y", [0, 0]).runAsync();
}
