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
  const bars = counts.map((count, place) => {
    const height = count ? Math.max(1.5, (HEIGHT * count) / most) : 0;
    const box = { x: place * step + 0.5, y: HEIGHT - height, width: step - 1, height };
    return svg("rect", { class: place === own ? "own" : "bar", ...box });
  });
  const at = position(value, edges);
  const mark = svg("path", { class: "mark", d: `M${at} 0V${HEIGHT + 5}m-4 5l4 -5l4 5z` });
  const label = words(value, edges, counts, total);
  const picture = { viewBox: `-4 0 ${WIDTH + 8} ${HEIGHT + 11}`, role: "img", "aria-label": label };
  const [low, high] = [edges[0], edges.at(-1)].map((edge) => el("span", { "aria-hidden": "true" }, short(edge)));
  return el("span", { class: "histogram", title: label }, low, svg("svg", picture, ...bars, mark), high);
}

// The bar that a value is in; a value on an edge belongs to the bar on its right, the last edge to the last bar.
function barOf(value, edges) {
  const last = edges.length - 2;
  if (value < edges[0] || value > edges[last + 1]) return -1;
  const place = edges.findIndex((edge) => edge > value) - 1;
  return place < 0 ? last : place;
}

function position(value, edges) {
  const [low, high] = [edges[0], edges.at(-1)];
  if (high <= low) return WIDTH / 2;
  return Math.min(WIDTH, Math.max(0, (WIDTH * (value - low)) / (high - low)));
}

// "At least", because the values within the value's own bar are not known one by one.
function words(value, edges, counts, total) {
  const share = (part) => `${Math.floor((100 * part.reduce((sum, count) => sum + count, 0)) / total)}\u00a0%`;
  const lower = share(counts.filter((_, place) => edges[place + 1] <= value && place < barOrEnd(value, edges)));
  const higher = share(counts.filter((_, place) => edges[place] > value));
  const range = `Values of the pool lie between ${numberText(edges[0])} and ${numberText(edges.at(-1))}`;
  return `${range}: at least ${lower} are lower than this one, and at least ${higher} are higher.`;
}

function barOrEnd(value, edges) {
  return value > edges.at(-1) ? edges.length : barOf(value, edges);
}

function short(value) {
  return numberText(Number(value.toPrecision(3)));
}
