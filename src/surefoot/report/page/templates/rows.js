// The table: filter, sort, then draw only as many rows as are asked for.

const FIRST = 15;
const STEP = 50;
const columns = report.rows.columns;
const state = { search: "", kind: "all", selection: null, key: "estimated_error", descending: true };
let matching = [];
let nDrawn = 0;
const opened = new Set();
const KINDS = {
  all: () => true,
  wrong: (item) => item.wrong === true,
  doubted: (item) => !isAnswered(item),
  novel: (item) => item.novel,
};

const items = report.rows.items.map(unpacked);

// The names of fields and of reasons are written only once in the page: put them back into each item.
function unpacked(line) {
  const item = Object.fromEntries(report.rows.fields.map((field, i) => [field, line[i]]));
  item.against = item.against.map(([i, effect, text]) => ({ name: report.rows.reasons[i], effect, text }));
  item.values = report.rows.cells[item.row].slice(1);
  item.words = [item.row, item.prediction, item.truth, ...item.values].map(shown).join("\n").toLowerCase();
  return item;
}

function matchingRows() {
  const search = state.search.trim().toLowerCase();
  const kept = items.filter((item) => KINDS[state.kind](item)
    && (!state.selection || state.selection.has(item.row)) && item.words.includes(search));
  return kept.sort(byKey);
}

function sortValue(item, key) {
  if (key === "accepted") return isAnswered(item);
  if (key === "interval") return item.low === null ? null : item.high - item.low;
  return key.startsWith("value") ? item.values[Number(key.slice(5))] : item[key];
}

// Rows without a value come last in either direction.
function byKey(one, other) {
  const [a, b] = [sortValue(one, state.key), sortValue(other, state.key)];
  if (a === null || b === null) return (a === null) - (b === null);
  const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  return state.descending ? -order : order;
}

function drawRows(nWanted = FIRST) {
  matching = matchingRows();
  nDrawn = 0;
  find("rows").replaceChildren();
  find("clear").hidden = !state.selection;
  for (const head of document.querySelectorAll("th[data-key]")) markSorted(head);
  drawMore(nWanted);
}

function drawMore(nMore = STEP) {
  find("rows").append(...matching.slice(nDrawn, nDrawn + nMore).flatMap(rowElements));
  nDrawn = Math.min(matching.length, nDrawn + nMore);
  find("more").hidden = nDrawn === matching.length;
  find("count").textContent = `Showing ${counted(nDrawn)} of ${counted(matching.length)} rows.${aboutSelection()}`;
}

function aboutSelection() {
  if (!state.selection) return "";
  const listed = items.filter((item) => state.selection.has(item.row)).length;
  return ` Of the ${counted(state.selection.size)} selected, ${counted(listed)} are listed here.`;
}

function markSorted(head) {
  if (head.dataset.key !== state.key) head.removeAttribute("aria-sort");
  else head.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
}

function rowElements(item) {
  const row = el("tr", { "data-row": item.row }, ...columns.map((column) => cell(item, column)));
  return opened.has(item.row) ? [row, detailRow(item, `detail-${item.row}`)] : [row];
}

function cell(item, { key, number }) {
  if (key === "row") return el("th", { scope: "row" }, opener(item));
  if (key === "accepted") return el("td", { class: "advice" }, ...advice(item));
  const node = el("td", number ? { class: "number" } : {}, item[`${key}_text`] ?? shown(sortValue(item, key)));
  if (key === "estimated_error") node.prepend(bar((100 * item.estimated_error) / report.rows.largest));
  if (key === "truth" && item.wrong) node.append(" ", chip("wrong"));
  return node;
}

function chip(text) {
  return el("span", { class: `chip ${text.split(" ")[0]}` }, text);
}

function advice(item) {
  const chips = [chip(isAnswered(item) ? "answer" : "check it")];
  if (item.novel) chips.push(chip("novel"));
  return chips.flatMap((one) => [one, " "]);
}

// The slider was moved: other rows may be listed, or the same rows with other advice.
function moveAdvice() {
  if (state.kind === "doubted" || state.key === "accepted") return drawRows(Math.max(FIRST, nDrawn));
  const drawn = find("rows").querySelectorAll("td.advice");
  for (const [i, node] of drawn.entries()) node.replaceChildren(...advice(matching[i]));
}

function opener(item) {
  const open = opened.has(item.row);
  const button = el("button", { type: "button", class: "open", "aria-expanded": open }, String(item.row));
  button.setAttribute("aria-label", `Row ${item.row}, details`);
  if (open) button.setAttribute("aria-controls", `detail-${item.row}`);
  button.addEventListener("click", () => toggle(item));
  return button;
}

function toggle(item) {
  if (!opened.delete(item.row)) opened.add(item.row);
  const row = find("rows").querySelector(`tr[data-row="${item.row}"]`);
  if (row.nextElementSibling?.classList.contains("opened")) row.nextElementSibling.remove();
  row.replaceWith(...rowElements(item));
  find("rows").querySelector(`tr[data-row="${item.row}"] button`).focus();
}

function change(changes) {
  Object.assign(state, changes);
  drawRows();
}

function selectRows(selection) {
  if (selection !== state.selection) change({ selection });
}

function clearSelection() {
  clearBrush();
  selectRows(null);
  find("search").focus();
}

function sortBy(key, isNumber) {
  const descending = state.key === key ? !state.descending : isNumber;
  change({ key, descending });
}

function startRows() {
  find("search").addEventListener("input", later((event) => change({ search: event.target.value }), 80));
  find("kind").addEventListener("change", (event) => change({ kind: event.target.value }));
  find("more").addEventListener("click", () => drawMore());
  find("clear").addEventListener("click", clearSelection);
  for (const [i, head] of document.querySelectorAll("th[data-key]").entries()) {
    head.querySelector("button").addEventListener("click", () => sortBy(columns[i].key, columns[i].number));
  }
  drawRows();
}
