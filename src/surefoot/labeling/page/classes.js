// The buttons of the classes, a field to find one among many, and a form for a new one.
import { post, reason } from "./api.js";
import { counted, el, find } from "./elements.js";
import { CLASS_KEYS } from "./keys.js";

const MANY = 12; // with more classes than these there is a field to find one

export class Classes {
  constructor(choose, added) {
    this.choose = choose;
    this.added = added;
    this.labels = [];
    find("search").addEventListener("input", () => this.filter());
    find("search").addEventListener("keydown", (event) => this.searchKey(event));
    find("open-add").addEventListener("click", () => this.openForm(true));
    find("cancel-class").addEventListener("click", () => this.openForm(false));
    find("add").addEventListener("keydown", (event) => event.key === "Escape" && this.openForm(false));
    find("add").addEventListener("submit", (event) => this.submit(event));
  }

  draw(task) {
    this.labels = task.classes;
    this.buttons = task.classes.map((label, place) => this.button(label, CLASS_KEYS[place]));
    const none = el("p", { class: "note" }, "There is no class to choose yet.");
    find("classes").replaceChildren(...(this.labels.length ? this.buttons : [none]));
    find("search-part").hidden = this.labels.length <= MANY;
    find("open-add").hidden = !task.allow_new_classes;
    this.filter();
  }

  button(label, key) {
    const button = el("button", { type: "button", class: "class", "aria-pressed": "false" }, el("span", { dir: "auto" }, label));
    if (key) button.append(" ", el("kbd", {}, key));
    button.addEventListener("click", () => this.choose(label));
    return button;
  }

  // The class that a key stands for, if any.
  labelOf(key) {
    return this.labels[CLASS_KEYS.indexOf(key)];
  }

  // Mark the answer that was given to an earlier row; enable the buttons if there is a row.
  mark(label, enabled) {
    this.buttons.forEach((button, place) => {
      button.setAttribute("aria-pressed", String(this.labels[place] === label));
      button.disabled = !enabled;
    });
  }

  matching() {
    const words = find("search").value.trim().toLowerCase();
    const exact = this.labels.filter((label) => label.toLowerCase() === words);
    return { exact, all: this.labels.filter((label) => label.toLowerCase().includes(words)) };
  }

  filter() {
    const { all } = this.matching();
    const shown = new Set(all);
    this.buttons.forEach((button, place) => (button.hidden = !shown.has(this.labels[place])));
    const searched = find("search").value.trim() !== "";
    find("matches").textContent = searched ? `${counted(all.length, "class", "classes")} with this text.` : "";
  }

  // Enter chooses only what is beyond doubt: the one class that is left, or the one that is called so.
  searchKey(event) {
    if (event.key === "Escape") this.clearSearch(true);
    if (event.key !== "Enter" || event.repeat || event.isComposing || !find("search").value.trim()) return;
    const { exact, all } = this.matching();
    const only = exact.length === 1 ? exact : all;
    if (only.length !== 1) return;
    this.clearSearch(false);
    this.choose(only[0]);
  }

  clearSearch(leave) {
    find("search").value = "";
    this.filter();
    if (leave) find("search").blur();
  }

  openForm(open) {
    find("add").hidden = !open;
    find("add-trouble").textContent = "";
    if (open) find("new-class").focus();
    else find("open-add").focus();
  }

  async submit(event) {
    event.preventDefault();
    const label = find("new-class").value.trim();
    if (!label) return;
    find("save-class").disabled = true;
    const reply = await post("/api/classes", { label });
    find("save-class").disabled = false;
    if (reply.status !== 200) return (find("add-trouble").textContent = `The class was not added. ${reason(reply)}`);
    find("new-class").value = "";
    this.added(reply.data.classes, label);
    this.openForm(false);
  }
}
