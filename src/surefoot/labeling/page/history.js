// Answers that were given, the newest last, and the one that is looked at, if any.
import { get } from "./api.js";

const REMEMBERED = 20; // earlier answers at the start

export class History {
  constructor() {
    this.clear();
  }

  clear() {
    this.entries = []; // {item, kind, label, before}; before: the answer that this one replaced, if any
    this.viewing = null;
  }

  // A row that was skipped may come again: its new answer is the one that counts.
  add(item, kind, label) {
    this.entries = this.entries.filter((entry) => entry.item.row !== item.row);
    this.entries.push({ item, kind, label });
  }

  of(row) {
    return this.entries.find(({ item }) => item.row === row);
  }

  forget(entry) {
    if (this.viewing === entry) this.viewing = null;
    this.entries = this.entries.filter((other) => other !== entry);
  }

  // The answer before the one that is looked at, or the last one; null if there is none.
  get earlier() {
    const place = this.viewing ? this.entries.indexOf(this.viewing) : this.entries.length;
    return this.entries[place - 1] ?? null;
  }

  forward() {
    this.viewing = this.entries[this.entries.indexOf(this.viewing) + 1] ?? null;
  }

  // Earlier answers from the server, between older ones and those that are on their way.
  async load(person, { isOurs, onTheWay, asked }) {
    const before = [...onTheWay()];
    const { status, data } = await get("/api/answered", { person, count: REMEMBERED });
    if (status !== 200 || !isOurs()) return;
    const newer = new Set([...before, ...onTheWay()]);
    const elsewhere = new Set([...newer, ...asked()]);
    const listed = data.items.filter(({ row }) => !elsewhere.has(row)).reverse();
    const entries = listed.map(({ kind, label, ...item }) => this.of(item.row) ?? { item, kind, label });
    const others = this.entries.filter((entry) => !entries.includes(entry));
    const isNewer = ({ item }) => newer.has(item.row);
    this.entries = [...others.filter((entry) => !isNewer(entry)), ...entries, ...others.filter(isNewer)];
  }
}
