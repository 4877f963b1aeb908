// The learning curve: accuracy on rows that were drawn at random, with its band; and the same figures as a table.
import { el, percent, svg } from "./elements.js";

const [LEFT, RIGHT, TOP, BOTTOM] = [40, 310, 10, 130];
const SHOWN = 200; // points in the drawing and lines in the table

export function curve(points) {
  const shown = points.slice(-SHOWN);
  const last = shown.at(-1);
  const words = `Accuracy by number of labels. With ${last.n_labels} labels: ${figures(last)}.`;
  const caption = el("figcaption", {}, "Accuracy as labels come in");
  return [caption, drawing(shown, words), table(shown)];
}

function figures({ accuracy, low, high }) {
  return low === null || low === undefined ? percent(accuracy) : `${percent(accuracy)} (between ${percent(low)} and ${percent(high)})`;
}

function drawing(points, words) {
  const lowest = Math.min(...points.map(({ accuracy, low }) => low ?? accuracy));
  const base = Math.min(0.8, Math.floor(lowest * 5) / 5);
  const most = Math.max(1, ...points.map((point) => point.n_labels));
  const x = (count) => LEFT + ((RIGHT - LEFT) * count) / most;
  const y = (share) => BOTTOM - ((BOTTOM - TOP) * (share - base)) / (1 - base);
  const size = { class: "curve", viewBox: "0 0 320 165", role: "img", "aria-label": words };
  return svg("svg", size, ...axes(base, most, x, y), ...band(points, x, y), ...line(points, x, y));
}

function axes(base, most, x, y) {
  const ticks = [0, 1, 2, 3, 4, 5].map((fifth) => fifth / 5).filter((share) => share >= base);
  const rules = ticks.map((share) => svg("path", { class: "rule", d: `M${LEFT} ${y(share)}H${RIGHT}` }));
  const texts = ticks.map((share) => svg("text", { x: LEFT - 6, y: y(share) + 4, class: "at-end" }, percent(share)));
  const ends = [
    svg("text", { x: LEFT, y: BOTTOM + 18, class: "at-start" }, "0"),
    svg("text", { x: (LEFT + RIGHT) / 2, y: BOTTOM + 18, class: "at-middle" }, "labels"),
    svg("text", { x: x(most), y: BOTTOM + 18, class: "at-end" }, most.toLocaleString("en-US")),
  ];
  return [...rules, ...texts, ...ends];
}

function band(points, x, y) {
  const known = points.filter(({ low, high }) => Number.isFinite(low) && Number.isFinite(high));
  if (!known.length) return [];
  if (known.length === 1) {
    const [{ n_labels: count, low, high }] = known;
    return [svg("path", { class: "band-line", d: `M${x(count)} ${y(low)}V${y(high)}` })];
  }
  const upper = known.map(({ n_labels: count, high }) => `${x(count)} ${y(high)}`);
  const lower = known.map(({ n_labels: count, low }) => `${x(count)} ${y(low)}`).reverse();
  return [svg("path", { class: "band", d: `M${[...upper, ...lower].join("L")}Z` })];
}

function line(points, x, y) {
  const places = points.map(({ n_labels: count, accuracy }) => [x(count), y(accuracy)]);
  const path = svg("path", { class: "line", d: `M${places.map((place) => place.join(" ")).join("L")}` });
  const dots = places.length > 30 ? [places.at(-1)] : places;
  return [path, ...dots.map(([cx, cy]) => svg("circle", { cx, cy, r: 2.5 }))];
}

function table(points) {
  const head = el("tr", {}, ...["Labels", "Accuracy", "Band"].map((name) => el("th", { scope: "col" }, name)));
  const lines = points.map(({ n_labels: count, accuracy, low, high }) => {
    const range = Number.isFinite(low) && Number.isFinite(high) ? `${percent(low)} to ${percent(high)}` : "not known";
    return el("tr", {}, el("th", { scope: "row" }, count.toLocaleString("en-US")), el("td", {}, percent(accuracy)), el("td", {}, range));
  });
  const all = el("table", {}, el("thead", {}, head), el("tbody", {}, ...lines));
  const scroll = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Figures of the curve" }, all);
  return el("details", { "data-test": "curve-table" }, el("summary", {}, "The figures"), scroll);
}
