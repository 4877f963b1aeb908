// The page: starts the parts, draws the row that is asked about, and sends each key to its action.
import { get, pause, reason } from "./api.js";
import { Classes } from "./classes.js";
import { find, percent, tell } from "./elements.js";
import { CLASS_KEYS, meantKey } from "./keys.js";
import { showMessage, showUnsaved, startNotices } from "./notices.js";
import { startPerson } from "./person.js";
import { Progress } from "./progress.js";
import { clearRow, showRow } from "./row.js";
import { Session, spoken } from "./session.js";

let task;
let session;
let drawn = null; // the item whose cells are on the page

const classes = new Classes((label) => session.answer("label", label), addedClass);
const progress = new Progress(() => task.classes, refreshTask);

const actions = {
  c: () => session.answer("unsure"),
  s: () => session.answer("skip"),
  u: () => session.undo(),
  b: () => session.back(),
  n: () => session.forward(),
  g: showGuess,
  "?": () => find("help-dialog").showModal(),
  "/": () => find("search-part").hidden || find("search").focus(),
};

function show() {
  if (!session) return;
  const { item, viewing } = session;
  tell("state", item ? null : stateText());
  tell("looking-back", viewing ? `You look back: your answer was “${spoken(viewing)}”. A new answer replaces it; n goes forward.` : null);
  classes.mark(viewing?.kind === "label" ? viewing.label : null, Boolean(item));
  for (const name of ["unsure", "skip"]) mark(name, viewing?.kind === name, Boolean(item));
  find("undo").disabled = !session.history.entries.length;
  find("back").disabled = !session.history.earlier;
  find("forward").disabled = !viewing;
  find("ask-guess").disabled = !item || Boolean(viewing);
  if (item !== drawn || !item) draw(item);
}

function mark(name, pressed, enabled) {
  find(name).setAttribute("aria-pressed", String(pressed));
  find(name).disabled = !enabled;
}

function draw(item) {
  drawn = item;
  tell("guess", null);
  tell("why", item?.why && !session.viewing ? `Why this row? ${item.why}` : null);
  find("row-title").textContent = item ? item.title : "No row now";
  if (!item) return clearRow();
  showRow(item, task);
  const { top } = find("row-title").getBoundingClientRect();
  if (top < 0) find("row-title").scrollIntoView({ behavior: "instant" });
}

function stateText() {
  const { left, failure } = session.queue;
  if (failure) return failure.status ? `${reason(failure)} This page asks again in a few seconds.` : "The next rows come when the server answers again.";
  if (session.outbox.entries.length) return "Your last answers are being saved; then the next rows come.";
  if (left === null) return "The first rows are on their way.";
  if (left === 0) return "Every row has an answer. You can download the labels, or go back and change an answer.";
  return "Other people are answering the rows that are left. This page asks again in a few seconds.";
}

async function showGuess() {
  if (!session.item || session.viewing) return;
  const { item, guess, trouble } = await session.guess();
  if (item !== drawn) return; // answered meanwhile
  const share = Number.isFinite(guess?.probability) ? `, with a probability of ${percent(guess.probability)}` : "";
  if (guess) tell("guess", `The model’s guess: “${guess.label}”${share}.`);
  else tell("guess", trouble ?? "The model has no guess for this row yet.");
}

function addedClass(labels, label) {
  useClasses(labels);
  const key = CLASS_KEYS[labels.indexOf(label)];
  find("saved").textContent = key ? `The class “${label}” was added: key ${key}.` : `The class “${label}” was added.`;
}

function useClasses(labels) {
  task.classes = labels;
  classes.draw(task);
  show();
}

async function refreshTask() {
  const { status, data } = await get("/api/task");
  if (status === 200 && JSON.stringify(data.classes) !== JSON.stringify(task.classes)) useClasses(data.classes);
}

async function loadTask() {
  for (;;) {
    const reply = await get("/api/task");
    if (reply.status === 200) return reply.data;
    tell("state", `${reason(reply)} This page goes on trying.`);
    await pause(2000);
  }
}

function startKeys() {
  document.addEventListener("keydown", (event) => {
    const key = document.querySelector("dialog[open]") ? null : meantKey(event);
    const label = classes.labelOf(key);
    const action = actions[key] ?? (label === undefined ? null : () => session.answer("label", label));
    if (!action) return;
    event.preventDefault();
    action();
  });
  for (const button of document.querySelectorAll("[data-key]")) button.addEventListener("click", () => actions[button.dataset.key]());
  find("help").addEventListener("click", actions["?"]);
  find("close-help").addEventListener("click", () => find("help-dialog").close());
}

async function start() {
  startNotices();
  task = await loadTask();
  find("question").textContent = task.question;
  const place = `surefoot.unsaved ${JSON.stringify([task.title, task.target, task.n_rows])}`;
  const saved = (text) => (find("saved").textContent = text);
  session = new Session(place, { show, message: showMessage, saved, unsaved: showUnsaved, counts: () => progress.soon() });
  classes.draw(task);
  startKeys();
  startPerson((name) => session.begin(name));
  progress.soon(0);
  document.documentElement.dataset.ready = "";
}

start();
