// How far the work is, what the model has learned, and what is certain about it.
import { get } from "./api.js";
import { curve } from "./curve.js";
import { counted, el, find, percent, tell } from "./elements.js";

const EVERY = 5000; // milliseconds between two looks when nothing happens
const SOON = 400; // after an answer

export class Progress {
  // `newClasses` is called when labels exist of a class that the page does not know.
  constructor(knownClasses, newClasses) {
    this.knownClasses = knownClasses;
    this.newClasses = newClasses;
    this.drawn = "";
    this.timer = null;
    this.goesOn = false; // the person has read that stopping is possible, and goes on
    find("go-on").addEventListener("click", () => {
      this.goesOn = true;
      this.drawStop(this.data);
    });
  }

  // Look soon; more calls before that are one look.
  soon(wait = SOON) {
    if (this.asking) return (this.missed = true);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), wait);
  }

  async look() {
    this.asking = true;
    const { status, data } = await get("/api/progress");
    this.asking = false;
    if (status === 200) this.draw(data);
    this.soon(this.missed ? SOON : EVERY);
    this.missed = false;
  }

  draw(data) {
    const known = new Set(this.knownClasses());
    if (Object.keys(data.classes).some((label) => !known.has(label))) this.newClasses();
    const text = JSON.stringify(data);
    if (text === this.drawn) return;
    this.drawn = text;
    this.data = data;
    drawBar(data);
    this.drawStop(data);
    tell("accuracy", accuracyText(data));
    tell("failure", data.failure ? `The model could not learn from the labels. ${data.failure} You can go on labelling.` : null);
    drawCurve(data.curve);
    drawCounts(data);
  }

  // Told above the row until the person goes on, then only beside the curve.
  drawStop(data) {
    find("stop").hidden = !data.claim || this.goesOn;
    find("claim").textContent = data.claim?.sentence ?? "";
    tell("changed", changedText(data));
  }
}

function drawBar({ n_rows: rows, left, n_labels: labels, n_unsure: unsure }) {
  const bar = find("bar");
  bar.setAttribute("aria-valuemax", Math.max(1, rows));
  bar.setAttribute("aria-valuenow", rows - left);
  bar.firstElementChild.style.width = `${rows ? (100 * (rows - left)) / rows : 0}%`;
  const doubt = unsure ? `, ${unsure.toLocaleString("en-US")} × cannot tell` : "";
  find("count").textContent = `${counted(labels, "label")}${doubt}. ${counted(left, "row")} of ${rows.toLocaleString("en-US")} left.`;
}

function accuracyText({ accuracy, audit }) {
  if (audit) return "No model learns here: the command surefoot audit takes the answers.";
  if (!accuracy) return "The accuracy is not known yet.";
  const { estimate, low, high, n_random: count } = accuracy;
  return `About ${percent(estimate)} of the model’s predictions are right (between ${percent(low)} and ${percent(high)}), measured on ${counted(count, "row")} drawn at random.`;
}

function changedText({ changed, training, claim }) {
  const parts = [];
  if (claim) parts.push(claim.sentence);
  if (changed) parts.push(`The last ${counted(changed.n_labels, "label")} changed ${percent(changed.share)} of the predictions.`);
  if (training) parts.push("The model is learning now.");
  return parts.join(" ");
}

function drawCurve(points) {
  const figure = find("curve");
  const open = figure.querySelector("details")?.open ?? false;
  figure.hidden = !points?.length;
  figure.replaceChildren(...(points?.length ? curve(points) : []));
  if (points?.length) figure.querySelector("details").open = open;
}

function drawCounts({ classes, people }) {
  const lines = (entries) => entries.map(([name, count]) => el(
    "tr", {}, el("th", { scope: "row", dir: "auto" }, name), el("td", {}, count.toLocaleString("en-US")),
  ));
  const part = (title, entries) => el("tbody", {}, el("tr", {}, el("th", { scope: "colgroup", colspan: 2 }, title)), ...lines(entries));
  const parts = [part("Class", Object.entries(classes))];
  if (Object.keys(people).length > 1) parts.push(part("Person", Object.entries(people)));
  find("counts").hidden = !Object.keys(classes).length;
  find("counts-table").replaceChildren(el("table", {}, ...parts));
}
