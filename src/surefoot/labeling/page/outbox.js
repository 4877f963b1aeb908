// Answers on their way: sent one after the other, each with its own key, again and again until the server replies to it.
import { pause, post } from "./api.js";

const FIRST_PAUSE = 300; // milliseconds; doubled after each failure
const LONGEST_PAUSE = 2000;
const PASSING = new Set([0, 401, 408, 425, 429]); // and above 500: try again
const MOST_FAULTS = 3; // replies of 500, a fault of the server itself, before an answer no longer holds up the others

export class Outbox {
  // `place` names this pool in the session's storage: a reload of the page sends what was not saved.
  constructor(place, { changed, settled }) {
    this.place = place;
    this.changed = changed;
    this.settled = settled;
    this.failure = null; // the last reply to the first entry, if that was no success
    this.sending = false;
    this.entries = stored(place);
    if (this.entries.length) this.send();
  }

  get rows() {
    return new Set(this.entries.map((entry) => entry.body.row));
  }

  add(path, body) {
    this.entries.push({ path, body: { key: newKey(), ...body } });
    this.store();
    this.send();
  }

  // An undone row has a new lease: a new answer that waits already needs it.
  renew(row, lease) {
    for (const { body } of this.entries) if (body.row === row && "lease" in body) body.lease = lease;
    this.store();
  }

  store() {
    try {
      if (this.entries.length) sessionStorage.setItem(this.place, JSON.stringify(this.entries));
      else sessionStorage.removeItem(this.place);
    } catch {
      // This browser keeps nothing: then a reload would lose what is not saved, and the page warns of leaving.
    }
    this.changed(this);
  }

  async send() {
    if (this.sending) return;
    this.sending = true;
    let wait = FIRST_PAUSE;
    let faults = 0;
    while (this.entries.length) {
      const { path, body } = this.entries[0];
      const reply = await post(path, body);
      faults += reply.status === 500;
      if (PASSING.has(reply.status) || reply.status > 500 || (reply.status === 500 && faults < MOST_FAULTS)) {
        this.failure = reply;
        this.changed(this);
        await pause(wait);
        wait = Math.min(2 * wait, LONGEST_PAUSE);
        continue;
      }
      wait = FIRST_PAUSE;
      faults = 0;
      this.failure = null;
      const entry = this.entries.shift();
      this.settled(entry, reply);
      this.store();
    }
    this.sending = false;
  }
}

function stored(place) {
  try {
    return JSON.parse(sessionStorage.getItem(place)) ?? [];
  } catch {
    return [];
  }
}

// randomUUID is missing where the page is not served from this machine or by https.
function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
