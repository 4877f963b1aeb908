// One row of the pool: its cells in the order in which they were sent, and the nearest labelled rows.
import { counted, el, find, numberText, start, tell } from "./elements.js";
import { histogram } from "./histogram.js";

const FIRST = 60; // columns that are shown of a wider table before all are asked for
const LONG = 700; // characters that are shown of a longer text before it is unfolded
const IN_TABLE = 160; // characters of a text in the table of nearest rows

let most = FIRST; // columns that are shown

export function showRow(item, task) {
  const columns = new Map(task.columns.map((column) => [column.name, column]));
  const names = order(item);
  const lines = names.slice(0, most).map((name) => line(name, item.cells[name], columns.get(name), task));
  find("cells").replaceChildren(...lines);
  tell("more", names.length > most ? `Show ${counted(names.length - most, "more column")}` : null);
  find("more").onclick = () => {
    most = Infinity;
    showRow(item, task);
  };
  showNeighbors(item, names.slice(0, most));
}

export function clearRow() {
  find("cells").replaceChildren();
  find("neighbors").hidden = true;
  find("more").hidden = true;
}

// Names of the columns, the most telling first. An object alone would put columns that are called by numbers first.
function order(item) {
  return item.order ?? Object.keys(item.cells);
}

function line(name, value, column, task) {
  const kind = column?.kind ?? "text";
  const aside = typeof value === "number" && column?.histogram ? histogram(value, column.histogram) : frequency(value, column, task);
  const cell = el("dd", {}, isLong(value) ? longText(name, value) : content(value));
  if (aside) cell.append(aside);
  return el("div", { class: kind, "data-column": name }, el("dt", { dir: "auto" }, name), cell);
}

// How many rows of the pool have this value, if it is one of the most frequent.
function frequency(value, column, task) {
  const entry = column?.top?.find(([other]) => value !== null && other === cellText(value));
  if (!entry) return null;
  return el("span", { class: "note" }, `in ${counted(entry[1], "row")} of ${task.n_rows.toLocaleString("en-US")}`);
}

// A value as text. A word in a frame says what is no text: an empty cell is not the text "empty".
function content(value, most = Infinity) {
  if (value === null || value === undefined) return el("span", { class: "empty" }, "empty");
  const text = cellText(value);
  if (text === "") return el("span", { class: "empty" }, "text without characters");
  if (text.trim() === "") return el("span", { class: "empty" }, "blank space only");
  const end = text.length > most ? "…" : "";
  return el("span", { class: "value", dir: "auto" }, start(text, most) + end);
}

function cellText(value) {
  if (typeof value === "number") return numberText(value);
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isLong(value) {
  return typeof value === "string" && value.length > LONG * 1.2 && value.trim() !== "";
}

function longText(name, text) {
  const box = el("div", { class: "long value", dir: "auto" }, `${start(text, LONG)}…`);
  const button = el("button", { type: "button", "aria-expanded": "false", "data-test": "unfold" });
  const draw = (open) => {
    button.textContent = open ? "Show less" : `Show all ${counted(text.length, "character")}`;
    button.setAttribute("aria-expanded", String(open));
    box.textContent = open ? text : `${start(text, LONG)}…`;
    box.classList.toggle("open", open);
    // A part that scrolls can be reached with the keyboard and has a name.
    const scrolling = { tabindex: "0", role: "region", "aria-label": name || "Long text" };
    for (const [key, value] of Object.entries(scrolling)) open ? box.setAttribute(key, value) : box.removeAttribute(key);
  };
  button.addEventListener("click", () => draw(button.getAttribute("aria-expanded") === "false"));
  draw(false);
  return el("div", {}, box, button);
}

// One line for each column: this row beside the nearest ones. Whether it is open stays as it was.
function showNeighbors(item, names) {
  const near = item.neighbors ?? [];
  find("neighbors").hidden = !near.length;
  if (!near.length) return find("neighbors-table").replaceChildren();
  find("neighbors-summary").textContent = near.length === 1 ? "The nearest labelled row" : `The ${near.length} nearest labelled rows`;
  const heads = near.map(({ row, label }) => el("th", { scope: "col" }, `Row ${row} `, el("b", { class: "chip", dir: "auto" }, label)));
  const head = el("tr", {}, el("th", { scope: "col" }, "Column"), el("th", { scope: "col" }, "This row"), ...heads);
  const rows = names.map((name) => {
    const values = [item.cells[name], ...near.map(({ cells }) => cells[name])];
    return el("tr", {}, el("th", { scope: "row", dir: "auto" }, name), ...values.map((cell) => el("td", {}, content(cell, IN_TABLE))));
  });
  find("neighbors-table").replaceChildren(el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows)));
}
