// Details of a row when it is opened: its stability, the reasons to doubt its prediction, and the nearest rows.

function detailRow(item, id) {
  const parts = el("div", { class: "detail" }, stability(item), against(item), nearest(item));
  return el("tr", { id, class: "opened" }, el("td", { colspan: report.rows.columns.length }, parts));
}

function part(title, ...children) {
  return el("section", {}, el("h4", {}, title), ...children);
}

function stability(item) {
  if (item.band[0] === null) return part("How stable it is", el("p", {}, "Not known for this row."));
  const what = report.rows.task === "classification"
    ? `the probability of “${shown(item.prediction)}” rather than the second class` : "the prediction";
  const words = `Close to this row, ${what} is mostly between ${item.band_text[0]} and ${item.band_text[2]}, with ${item.band_text[1]} in the middle.`;
  return part("How stable it is", band(item), el("p", {}, words.replaceAll(" %", "\u00a0%")));
}

function band(item) {
  const [start, end] = report.rows.range;
  const place = (value) => (end > start ? (300 * (value - start)) / (end - start) : 150);
  const width = Math.max(2, place(item.band[2]) - place(item.band[0]));
  const ends = report.rows.task === "classification" ? ["0 %", "100 %"] : ["", ""];
  return el("div", { class: "band" }, ends[0], svg(
    "svg", { viewBox: "0 0 300 22", "aria-hidden": "true" },
    svg("rect", { class: "track", x: 0, y: 9, width: 300, height: 4, rx: 2 }),
    svg("rect", { class: "extent", x: place(item.band[0]), y: 4, width, height: 14, rx: 3 }),
    svg("rect", { class: "middle", x: place(item.band[1]) - 1, y: 0, width: 2.5, height: 22 }),
  ), ends[1]);
}

function against(item) {
  const title = "Reasons to doubt it";
  if (!item.against.length) return part(title, el("p", {}, "Nothing in particular."));
  const most = Math.max(...item.against.map((reason) => Math.abs(reason.effect)));
  const lines = item.against.map((reason) => el(
    "li", {}, el("span", {}, reason.name), el("b", {}, `+${reason.text}`), bar((100 * Math.abs(reason.effect)) / most),
  ));
  return part(title, el("ul", { class: "against" }, ...lines));
}

function bar(percent) {
  return svg(
    "svg", { class: "bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "track", width: 100, height: 6 }), svg("rect", { class: "extent", width: Math.min(100, percent), height: 6 }),
  );
}

function nearest(item) {
  const title = "Nearest labelled rows";
  if (!item.near.length) return part(title, el("p", {}, "None."));
  const names = report.rows.columns.filter(({ key }) => key.startsWith("value")).map(({ label }) => label);
  const head = ["", "Truth", ...names].map((name) => (name ? el("th", { scope: "col" }, name) : el("td")));
  const lines = [[item.row, "this row"], ...item.near.map((row) => [row, `row ${row}`])].map(([row, name]) => el(
    "tr", {}, el("th", { scope: "row" }, name), ...report.rows.cells[row].map((value) => el("td", {}, shown(value))),
  ));
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...lines));
  const label = `Nearest labelled rows of row ${item.row}`;
  const scroll = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
  return part(title, scroll, ...aroundButton(item));
}

function aroundButton(item) {
  if (!isOnMap(item.row)) return [];
  const button = el("button", { type: "button", class: "control", "data-test": "around" }, "List the rows near it on the map");
  button.addEventListener("click", () => {
    brushAround(item.row);
    find("count").focus();
  });
  return [button];
}
