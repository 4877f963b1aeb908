// Sentences above the row: what is not saved yet, and what the server refused.
import { onReply, reason } from "./api.js";
import { counted, el, find, tell } from "./elements.js";

const SLOW = 1500; // milliseconds after which an answer that is not saved is worth a sentence
const MOST = 3; // messages at one time

let reachable = true;
let unsaved = 0;
let failure = null;
let waiting; // key of the answer that is being sent
let slow = false;
let timer;

function draw() {
  const count = `${counted(unsaved, "answer")} ${unsaved === 1 ? "is" : "are"} not saved yet.`;
  const parts = [];
  if (unsaved && (failure || slow)) parts.push(count);
  if (failure) parts.push(reason(failure));
  else if (!reachable) parts.push("The server does not answer.");
  if (parts.length) parts.push("This page goes on trying: leave it open.");
  tell("trouble", parts.join(" "));
}

export function showUnsaved(outbox) {
  unsaved = outbox.entries.length;
  failure = outbox.failure;
  const first = outbox.entries[0]?.body.key;
  if (first !== waiting) {
    waiting = first;
    slow = false;
    clearTimeout(timer);
    if (first) timer = setTimeout(() => ((slow = true), draw()), SLOW);
  }
  draw();
}

export function showMessage(text) {
  const list = find("messages");
  const close = el("button", { type: "button", class: "plain" }, "Close");
  const entry = el("li", { class: "notice trouble" }, el("span", { dir: "auto" }, text), " ", close);
  close.addEventListener("click", () => entry.remove());
  list.append(entry);
  while (list.children.length > MOST) list.firstElementChild.remove();
}

export function startNotices() {
  onReply((replied) => {
    reachable = replied;
    draw();
  });
  window.addEventListener("beforeunload", (event) => unsaved && event.preventDefault());
}
