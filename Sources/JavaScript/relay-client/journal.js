// The order in which changes become durable and are told: nothing is told before it is stored.
import { RelayError } from "./errors.js";
import { MemoryStore } from "./memory-store.js";
/** @import { Change, Event, Store, Stored } from "./types.js" */

/** @typedef {Event | (() => Promise<Event>)} Told an event, or what reads it from the store */

/**
 * Commits changes one after the other, together those that came during a commit, and then tells
 * their events. If the store fails, the work goes on in memory: the store stays as it was, so the
 * next client continues from there.
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
    try {
      return await this.#store.open();
    } catch (error) {
      return this.#fail(error).open();
    }
  }

  /**
   * @param {Change} change @param {Told[]} told
   * @returns {Promise<void>} the change is durable
   */
  add(change, ...told) {
    const last = this.#queue[this.#queue.length - 1];
    if (last && canFollow(last, change)) {
      last.change = merged(last.change, change);
      for (const event of told) append(last.told, event);
      return last.isDone;
    }
    let done = () => {};
    const isDone = new Promise((/** @type {(_: void) => void} */ resolve) => {
      done = resolve;
    });
    this.#queue.push({ change, told, done, isDone });
    if (this.#queue.length === 1) this.#running = this.#running.then(() => this.#run());
    return isDone;
  }

  /**
   * The newest stored entries of a room before `before`.
   * @param {string} room @param {{before?: number, limit: number}} range
   */
  async entries(room, range) {
    try {
      return await this.#store.entries(room, range);
    } catch (error) {
      return this.#fail(error).entries(room, range);
    }
  }

  /** Resolves when everything is stored and the store is closed. */
  async close() {
    await this.add({});
    await this.#store.close().catch(() => {});
  }

  async #run() {
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      if (Object.keys(next.change).length > 0) {
        await this.#store.commit(next.change).catch((error) => this.#fail(error));
      }
      next.done();
      for (const event of next.told)
        this.#tell(typeof event === "function" ? await event() : event);
    }
  }

  /** @param {unknown} error */
  #fail(error) {
    const message = `The store failed; what follows is kept in memory only: ${error}`;
    this.#tell({ type: "failed", error: new RelayError("store_failed", message) });
    this.#store = new MemoryStore();
    return this.#store;
  }
}

/**
 * Whether a change may be committed together with those before it, and told after them.
 * @param {{told: Told[]}} last @param {Change} change
 */
function canFollow(last, change) {
  return !change.drop && !change.forget && last.told.every((event) => typeof event !== "function");
}

/**
 * Entries of a room that arrive together are told together.
 * @param {Told[]} told
 * @param {Told} event
 */
function append(told, event) {
  const last = told[told.length - 1];
  if (
    typeof event !== "function" &&
    typeof last === "object" &&
    event.type === "entries" &&
    last.type === "entries" &&
    last.room === event.room
  ) {
    last.entries.push(...event.entries);
  } else {
    told.push(event);
  }
}

/** @param {Change} a @param {Change} b @returns {Change} */
function merged(a, b) {
  const join = (/** @type {any} */ one, /** @type {any} */ other) =>
    one && other ? [...one, ...other] : (one ?? other);
  return {
    ...a,
    user: b.user ?? a.user,
    entries: join(a.entries, b.entries),
    cursors: join(a.cursors, b.cursors),
    outbox: join(a.outbox, b.outbox),
    settled: join(a.settled, b.settled),
  };
}
