// The name of the person: asked once, kept in this browser, and changed on request.
import { find } from "./elements.js";

const PLACE = "surefoot.person";

export function startPerson(begin) {
  const dialog = find("name-dialog");
  const use = (name) => {
    find("person").textContent = `${name} (change)`;
    find("person").hidden = false;
    begin(name);
  };
  find("person").addEventListener("click", () => ask(dialog));
  dialog.addEventListener("cancel", (event) => stored() || event.preventDefault()); // without a name there is no start
  find("name-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = find("name").value.trim();
    if (!name) return;
    const before = stored();
    store(name);
    dialog.close();
    if (name !== before) use(name);
  });
  if (stored()) use(stored());
  else ask(dialog);
}

function ask(dialog) {
  find("name").value = stored() ?? "";
  dialog.showModal();
}

// Some browsers keep nothing: then the name holds until the page is left.
let held = null;

function stored() {
  try {
    return localStorage.getItem(PLACE) ?? held;
  } catch {
    return held;
  }
}

function store(name) {
  held = name;
  try {
    localStorage.setItem(PLACE, name);
  } catch {
    // It is held in this page.
  }
}
