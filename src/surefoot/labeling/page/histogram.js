// Where a number lies among those of the pool: a small drawing, and the same in words.
import { el, numberText, svg } from "./elements.js";

const WIDTH = 160;
const HEIGHT = 26;

export function histogram(value, { edges, counts }) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (!total) return null;
  const most = Math.max(...counts);
  const step = WIDTH / counts.length;
  const own = barOf(value, edges);
  const label = words(own, edges, counts, total);
  const bar = (count, place) => {
    const height = count ? Math.max(1.5, (HEIGHT * count) / most) : 0;
    return `M${place * step + 0.5} ${HEIGHT}v${-height}h${step - 1}v${height}z`;
  };
  const others = counts.map((count, place) => (place === own ? "" : bar(count, place))).join("");
  const at = position(value, edges);
  const mark = svg("path", { class: "mark", d: `M${at} 0V${HEIGHT + 5}m-4 5l4 -5l4 5z` });
  const picture = { viewBox: `-4 0 ${WIDTH + 8} ${HEIGHT + 11}`, role: "img", "aria-label": label };
  const drawing = svg("svg", picture, svg("path", { class: "bars", d: others }), svg("path", { class: "own", d: bar(counts[own], own) }), mark);
  const [low, high] = [edges[0], edges.at(-1)].map((edge) => el("span", { "aria-hidden": "true" }, short(edge)));
  return el("span", { class: "histogram", title: label }, low, drawing, high);
}

// The bar that a value is in. The outermost bars hold what lies beyond the edges, too.
function barOf(value, edges) {
  const place = edges.findIndex((edge) => edge > value) - 1;
  return Math.max(0, place === -2 ? edges.length - 2 : place);
}

function position(value, edges) {
  const [low, high] = [edges[0], edges.at(-1)];
  if (high <= low) return WIDTH / 2;
  return Math.min(WIDTH, Math.max(0, (WIDTH * (value - low)) / (high - low)));
}

// "At least", because the values within the value's own bar are not known one by one.
function words(own, edges, counts, total) {
  const share = (part) => `${Math.floor((100 * part.reduce((sum, count) => sum + count, 0)) / total)}\u00a0%`;
  const [lower, higher] = [share(counts.slice(0, own)), share(counts.slice(own + 1))];
  const range = `Values of the pool, drawn from ${short(edges[0])} to ${short(edges.at(-1))}`;
  return `${range}: at least ${lower} are lower than this one, and at least ${higher} are higher.`;
}

function short(value) {
  return numberText(Number(value.toPrecision(3)));
}
