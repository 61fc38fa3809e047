// A store in IndexedDB, for pages. Serves one client at a time: one tab, or what all tabs share.
import { allowed } from "./allowed.js";
import { within } from "./deadline.js";
import { LineBackup } from "./line-backup.js";

/** @import { Change, Cursor, Entry, Line, Store, Stored } from "./types.js" */

const pruneEvery = 64;

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function result(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @param {IDBTransaction} writing */
function done(writing) {
  return new Promise((/** @type {(_: void) => void} */ resolve, reject) => {
    writing.oncomplete = () => resolve();
    writing.onabort = () => reject(writing.error ?? new Error("another page has opened it."));
  });
}

/**
 * The page that has opened a database last has it. What another one commits fails, since its
 * cursors would go back behind entries that are stored.
 * @implements {Store}
 */
export class IndexedDBStore {
  #name;
  #owner = Math.random().toString(36).slice(2);
  #keep;
  /** @type {IDBDatabase | undefined} */
  #database;
  #isClosed = false;

  /**
   * @param {string} name of the database: one for each user
   * @param {{keep?: number}} [options] `keep`: how many of the newest entries of a room are kept
   */
  constructor(name, { keep = 1000 } = {}) {
    this.#name = name;
    this.#keep = keep;
    this.backup = new LineBackup(name);
  }

  get name() {
    return this.#name;
  }

  /**
   * Removes all that is stored under a name. Rejects if it cannot be removed now.
   * @param {string} name
   */
  static async delete(name) {
    new LineBackup(name).clear();
    const databases = allowed(() => globalThis.indexedDB);
    // What is open for another page is closed by it: see `onversionchange`.
    if (databases) await within(result(databases.deleteDatabase(name)), "The database");
  }

  /** @returns {Promise<Stored>} */
  async open() {
    const opening = indexedDB.open(this.#name, 1);
    opening.onupgradeneeded = () => {
      const database = opening.result;
      database.createObjectStore("facts");
      database.createObjectStore("cursors", { keyPath: "room" });
      database.createObjectStore("entries", { keyPath: ["room", "seq"] });
      database
        .createObjectStore("outbox", { autoIncrement: true })
        .createIndex("id", "id", { unique: true });
    };
    const database = await result(opening);
    if (this.#isClosed) {
      database.close(); // it was given up
      throw new Error("The store is closed.");
    }
    this.#database = database;
    database.onversionchange = () => database.close(); // another page deletes it
    const left = this.backup.all();
    const durability = left.length > 0 ? "strict" : "relaxed";
    const names = ["facts", "cursors", "outbox"];
    const opened = database.transaction(names, "readwrite", { durability });
    const facts = opened.objectStore("facts");
    const [user, cursors, outbox] = await Promise.all([
      result(facts.get("user")),
      result(opened.objectStore("cursors").getAll()),
      result(opened.objectStore("outbox").getAll()),
      result(facts.put(this.#owner, "owner")),
    ]);
    if (left.length === 0) return { user, cursors, outbox };
    const isDone = done(opened);
    // What a page has shown, and was not stored before it ended.
    const lines = opened.objectStore("outbox");
    const known = new Set(outbox.map(({ id }) => id));
    const added = left.flatMap(({ line }) => (known.has(line.id) ? [] : [line]));
    const replaced = new Set(left.map(({ replaced }) => replaced));
    for (const line of added) lines.add(line);
    for (const id of replaced) if (id !== undefined) remove(lines, id);
    await isDone;
    for (const { line } of left) this.backup.remove(line.id);
    return {
      user,
      cursors,
      outbox: [...outbox, ...added].filter(({ id }) => !replaced.has(id)),
    };
  }

  /** @param {Change} change */
  async commit({
    user,
    drop = [],
    forget = [],
    entries = [],
    cursors = [],
    outbox = [],
    settled = [],
  }) {
    // A line must survive a loss of power before it is sent; the rest would come from the relay
    // again.
    const durability = outbox.length > 0 ? "strict" : "relaxed";
    const names = ["facts", "cursors", "entries", "outbox"];
    const writing = this.#open.transaction(names, "readwrite", { durability });
    const [facts, places, log, lines] = names.map((name) => writing.objectStore(name));
    const owner = facts.get("owner");
    owner.onsuccess = () => owner.result === this.#owner || writing.abort();
    if (user !== undefined) facts.put(user, "user");
    for (const { room, after } of drop) log.delete(range(room, after + 1, Infinity));
    for (const room of forget) {
      log.delete(range(room, 0, Infinity));
      places.delete(room);
    }
    for (const entry of entries) {
      log.put(entry);
      if (entry.seq % pruneEvery === 0 && entry.seq > this.#keep) {
        log.delete(range(entry.room, 0, entry.seq - this.#keep));
      }
    }
    for (const cursor of cursors) places.put(cursor);
    for (const line of new Map(outbox.map((line) => [line.id, line])).values())
      whereIs(lines, line.id, (key) =>
        key === undefined ? lines.add(line) : lines.put(line, key),
      );
    for (const id of settled) remove(lines, id);
    await done(writing);
    for (const { id } of outbox) this.backup.remove(id);
  }

  /**
   * @param {string} room
   * @param {{before?: number, limit: number}} wanted
   * @returns {Promise<Entry[]>}
   */
  async entries(room, { before = Infinity, limit }) {
    const log = this.#open.transaction("entries").objectStore("entries");
    const keys = await result(log.getAllKeys(range(room, 0, before)));
    const from = /** @type {[string, number] | undefined} */ (keys.slice(-limit)[0]);
    return from ? result(log.getAll(range(room, from[1], before))) : [];
  }

  async close() {
    this.#isClosed = true;
    this.#database?.close();
  }

  get #open() {
    if (!this.#database) throw new Error("The database is not open.");
    return this.#database;
  }
}

/**
 * @param {IDBObjectStore} lines
 * @param {string} id
 * @param {(key: IDBValidKey | undefined) => void} found
 */
function whereIs(lines, id, found) {
  const search = lines.index("id").getKey(id);
  search.onsuccess = () => found(search.result);
}

/** @param {IDBObjectStore} lines @param {string} id */
function remove(lines, id) {
  whereIs(lines, id, (key) => key !== undefined && lines.delete(key));
}

/**
 * The entries of a room from one `seq` to before another.
 * @param {string} room
 * @param {number} from
 * @param {number} to
 */
function range(room, from, to) {
  return IDBKeyRange.bound([room, from], [room, to], false, true);
}
