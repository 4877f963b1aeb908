// Rows to ask about: the first is shown, the others wait so that an answer never waits for the server.
import { get } from "./api.js";

const AHEAD = 3; // rows at hand, the one that is shown among them
const MOST = 50; // rows in one request, which the server allows
const AGAIN = 3000; // milliseconds until the next try when there is nothing to show

export class Queue {
  // `busy` gives the rows with an answer on its way; `changed` is called when the first row or the number left is another.
  constructor(busy, changed) {
    this.busy = busy;
    this.changed = changed;
    this.clear();
  }

  clear(person = null) {
    this.person = person;
    this.items = [];
    this.left = null; // rows without an answer; null until the server has told
    this.clock = 0;
    this.touched = new Map(); // row: the time of its last change here, which an older reply does not know
    this.asking = false;
    this.failure = null; // the last reply, if that was no success
    clearTimeout(this.timer);
  }

  get first() {
    return this.items[0] ?? null;
  }

  touch(row) {
    this.touched.set(row, ++this.clock);
  }

  take() {
    const item = this.items.shift();
    this.touch(item.row);
    return item;
  }

  putBack(item) {
    this.remove(item.row);
    this.items.unshift(item);
    this.touch(item.row);
  }

  remove(row) {
    this.items = this.items.filter((item) => item.row !== row);
    this.touch(row);
  }

  // The rows that are leased to this person come first, those with an answer on its way among them.
  ask(more = {}) {
    const count = Math.min(MOST, Math.max(AHEAD, this.items.length) + this.busy().size);
    return get("/api/next", { person: this.person, count, ...more });
  }

  async fill() {
    if (this.asking || this.person === null) return;
    const { person, clock } = this;
    this.asking = true;
    clearTimeout(this.timer);
    const reply = await this.ask();
    if (person !== this.person) return;
    this.asking = false;
    if (reply.status === 200) this.merge(reply.data, clock);
    else this.fail(reply);
    const again = this.againAfter(clock);
    if (again !== null) this.timer = setTimeout(() => this.fill(), again);
  }

  // Milliseconds until the next request; null if there are rows enough.
  againAfter(clock) {
    if (this.failure || !this.items.length) return AGAIN;
    return this.clock > clock && this.items.length < AHEAD ? 0 : null;
  }

  fail(reply) {
    this.failure = reply;
    if (!this.items.length) this.changed();
  }

  merge({ items, left }, clock) {
    const before = [this.first, this.left, this.failure];
    const busy = this.busy();
    const news = new Map(items.map((item) => [item.row, item]));
    const isNewer = (row) => (this.touched.get(row) ?? 0) > clock;
    // The server does not ask about a row whose undo it has not seen yet.
    const isOurs = ({ row }) => busy.has(row) || isNewer(row) || news.has(row) || items.length === MOST;
    const kept = this.items.filter((item, place) => place === 0 || isOurs(item));
    for (const item of kept) if (!isNewer(item.row) && news.has(item.row)) item.lease = news.get(item.row).lease;
    const rows = new Set(kept.map((item) => item.row));
    const added = items.filter(({ row }) => !rows.has(row) && !busy.has(row) && !isNewer(row));
    this.items = [...kept, ...added];
    this.left = left;
    this.failure = null;
    const after = [this.first, this.left, this.failure];
    if (after.some((value, place) => value !== before[place])) this.changed();
  }
}
