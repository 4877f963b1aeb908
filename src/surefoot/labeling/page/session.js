// One person's work: rows to come, answers given, and answers on their way to the server.
import { reason } from "./api.js";
import { History } from "./history.js";
import { Outbox } from "./outbox.js";
import { Queue } from "./queue.js";

export class Session {
  // `show` draws what is to be seen now; `message` and `saved` tell one sentence; `counts` is called when an answer is saved.
  constructor(place, { show, message, saved, unsaved, counts }) {
    Object.assign(this, { show, message, saved, counts });
    this.history = new History();
    this.queue = new Queue(() => this.outbox.rows, show);
    this.outbox = new Outbox(place, { changed: unsaved, settled: (entry, reply) => this.settled(entry, reply) });
  }

  begin(person) {
    this.person = person;
    this.history.clear();
    this.queue.clear(person);
    this.queue.fill();
    this.show();
    this.remember();
  }

  async remember() {
    const { person } = this;
    await this.history.load(person, {
      isOurs: () => person === this.person,
      onTheWay: () => this.outbox.rows,
      asked: () => this.queue.items.map(({ row }) => row),
    });
    this.show();
  }

  get viewing() {
    return this.history.viewing;
  }

  get item() {
    return this.viewing ? this.viewing.item : this.queue.first;
  }

  answer(kind, label = null) {
    if (!this.item) return;
    if (this.viewing) this.change(this.viewing, kind, label);
    else this.give(kind, label);
    this.show();
  }

  give(kind, label) {
    const item = this.queue.take();
    this.history.add(item, kind, label);
    this.post(item, kind, label);
    this.queue.fill();
  }

  change(entry, kind, label) {
    if (entry.kind !== kind || entry.label !== label) {
      Object.assign(entry, { kind, label, before: { kind: entry.kind, label: entry.label, before: entry.before } });
      this.post(entry.item, kind, label);
    }
    this.history.forward();
  }

  post(item, kind, label) {
    this.outbox.add("/api/answers", { row: item.row, lease: item.lease, person: this.person, kind, label });
  }

  // The answer of the row that is looked at, or else the last one, is taken back: the answer before it holds again, or
  // the row is asked again.
  undo() {
    const entry = this.viewing ?? this.history.entries.at(-1);
    if (!entry) return this.saved("There is no answer to undo.");
    if (entry.before) {
      Object.assign(entry, entry.before);
      this.history.viewing = entry;
    } else {
      this.history.forget(entry);
      this.queue.putBack(entry.item);
    }
    this.outbox.add("/api/undo", { person: this.person, row: entry.item.row });
    this.show();
  }

  back() {
    const { earlier } = this.history;
    if (!earlier) return this.saved("There is no earlier answer to show.");
    this.history.viewing = earlier;
    this.show();
  }

  forward() {
    if (this.viewing) this.history.forward();
    this.show();
  }

  // The server has replied to an answer or an undo, and will not change its mind.
  settled({ path, body }, reply) {
    this.queue.touch(body.row);
    const isUndo = path === "/api/undo";
    if (reply.status !== 200) this.refused(body, reply, isUndo);
    else if (isUndo) this.undone(body, reply.data);
    else this.acknowledged(body);
    this.queue.fill();
    this.counts();
    this.show(); // also that nothing is on its way any more
  }

  acknowledged(body) {
    this.saved(`Saved: row ${body.row}, ${spoken(body)}.`);
    const isKnown = this.history.of(body.row) || this.queue.items.some(({ row }) => row === body.row);
    if (!isKnown && body.person === this.person) this.remember(); // it was given before a reload of the page
  }

  undone({ row }, { item }) {
    this.saved(`Undone: the last answer to row ${row} was taken back.`);
    const waiting = this.queue.items.find((other) => other.row === row);
    if (item) {
      if (waiting) waiting.lease = item.lease;
      this.outbox.renew(row, item.lease);
    } else if (waiting) {
      this.queue.remove(row); // an answer from before a reload holds again, or somebody else has the row
      this.remember();
    }
  }

  refused(body, reply, isUndo) {
    const what = isUndo ? "the answer was not taken back" : `the answer (${spoken(body)}) was not saved`;
    this.message(`Row ${body.row}: ${what}. ${reason(reply)}`);
    const entry = this.history.of(body.row);
    if (entry) this.history.forget(entry);
    // 409: the row is somebody else's now. Otherwise it is asked again.
    if (reply.status === 409 || isUndo) this.queue.remove(body.row);
    else if (entry) this.queue.putBack(entry.item);
  }

  async guess() {
    const { item } = this;
    const { status, data } = await this.queue.ask({ guess: 1 });
    const guess = status === 200 ? data.items.find(({ row }) => row === item.row)?.guess : undefined;
    return { item, guess, trouble: status === 200 ? null : reason({ status, data }) };
  }
}

export function spoken({ kind, label }) {
  if (kind === "skip") return "skipped";
  return kind === "unsure" ? "cannot tell" : label;
}
