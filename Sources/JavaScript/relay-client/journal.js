// The order in which changes become durable and are told: nothing is told before it is stored.
import { outsideMs, within } from "./deadline.js";
import { RelayError, toldBy } from "./errors.js";
import { MemoryStore } from "./memory-store.js";

/** @import { Change, Cursor, Event, Store, Stored } from "./types.js" */

/** @typedef {Event | (() => Promise<Event>)} Told an event, or what reads it from the store */

/**
 * More entries are committed by the next commit, and told after it: a program that catches up with
 * thousands stays responsive, since storing and telling them takes a page some 30 µs each.
 */
const entriesPerCommit = 250;

/** A disk may be slow for a while, and memory keeps less: patience once the store is open. */
const storeMs = 10_000;

/**
 * Commits changes one after the other, together those that came during a commit, and then tells
 * their events. If the store fails, or does not answer in time, the work goes on in memory: the store
 * stays as it was, so the next client continues from there.
 */
export class Journal {
  /** @type {{change: Change, told: Told[], done: () => void, isDone: Promise<void>}[]} */
  #queue = [];
  #running = Promise.resolve();
  #store;
  #tell;

  /** @param {Store} store @param {(event: Event) => void} tell */
  constructor(store, tell) {
    this.#store = store;
    this.#tell = tell;
  }

  /** @returns {Promise<Stored>} */
  async open() {
    return this.#ask((store) => store.open(), outsideMs);
  }

  /**
   * @param {Change} change @param {Told[]} told
   * @returns {Promise<void>} the change is durable
   */
  add(change, ...told) {
    const last = this.#queue.at(-1);
    if (last && canFollow(last, change)) {
      merge(last.change, change);
      for (const event of told) append(last.told, event);
      return last.isDone;
    }
    let done = () => {};
    const isDone = new Promise((/** @type {(_: void) => void} */ resolve) => {
      done = resolve;
    });
    this.#queue.push({ change: merge({}, change), told, done, isDone });
    if (this.#queue.length === 1) this.#running = this.#running.then(() => this.#run());
    return isDone;
  }

  /**
   * The newest stored entries of a room before `before`.
   * @param {string} room @param {{before?: number, limit: number}} range
   */
  entries(room, range) {
    return this.#ask((store) => store.entries(room, range));
  }

  /** Resolves when everything is stored and the store is closed. */
  async close() {
    await this.add({});
    await this.#ask((store) => store.close());
  }

  async #run() {
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      if (Object.keys(next.change).length > 0) {
        await this.#ask((store) => store.commit(next.change));
      }
      next.done();
      for (const event of next.told)
        this.#tell(typeof event === "function" ? await event() : event);
    }
  }

  /**
   * Asks the store; where it fails, the memory.
   * @template T
   * @param {(store: Store) => Promise<T>} question
   * @param {number} [ms]
   * @returns {Promise<T>}
   */
  async #ask(question, ms = storeMs) {
    const store = this.#store;
    try {
      return await within(question(store), "The store", ms);
    } catch (error) {
      if (store === this.#store) this.#fail(store, error);
      return question(this.#store);
    }
  }

  /** @param {Store} store @param {unknown} error */
  #fail(store, error) {
    const message = `The store failed; the rest is in memory only: ${error}`;
    this.#tell({ type: "failed", error: new RelayError("store_failed", message) });
    this.#store = new MemoryStore();
    // One that answers too late must not stay open. Whether that fails changes nothing any more.
    toldBy("store_failed", store.close());
  }
}

/**
 * Whether a change may be committed together with those before it, and told after them.
 * @param {{change: Change, told: Told[]}} last @param {Change} change
 */
function canFollow(last, change) {
  return (
    !change.drop &&
    !change.forget &&
    (last.change.entries?.length ?? 0) + (change.entries?.length ?? 0) <= entriesPerCommit &&
    !last.told.some((event) => typeof event === "function")
  );
}

/**
 * Entries of a room that arrive together are told together, and outcomes of own entries too. The
 * two often take turns, and each may be told before the other.
 * @param {Told[]} told
 * @param {Told} event
 */
function append(told, event) {
  const isOfRoom = (/** @type {Told} */ one) =>
    typeof one === "object" &&
    typeof event === "object" &&
    one.room === event.room &&
    (one.type === "entries" || one.type === "settled");
  for (const one of told.slice(-2).reverse()) {
    if (typeof event === "function" || typeof one === "function" || !isOfRoom(one)) break;
    if (one.type !== event.type) continue;
    if (one.type === "entries") one.entries.push(...event.entries);
    else one.outcomes.push(...event.outcomes);
    return;
  }
  told.push(event);
}

/**
 * Adds a change to another one.
 * @param {Change} all @param {Change} change
 */
function merge(all, change) {
  for (const [name, value] of Object.entries(change)) {
    const there = /** @type {any} */ (all)[name];
    if (value === undefined) continue;
    if (!Array.isArray(value)) /** @type {any} */ (all)[name] = value;
    else if (!there) /** @type {any} */ (all)[name] = [...value];
    else if (name === "cursors") moveTo(there, /** @type {Cursor[]} */ (value));
    else there.push(...value);
  }
  return all;
}

/**
 * Only the last position in a room counts.
 * @param {Cursor[]} cursors @param {Cursor[]} moved
 */
function moveTo(cursors, moved) {
  for (const cursor of moved) {
    const index = cursors.findLastIndex(({ room }) => room === cursor.room);
    if (index < 0) cursors.push(cursor);
    else cursors[index] = cursor;
  }
}
