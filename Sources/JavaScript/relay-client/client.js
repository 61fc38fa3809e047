// What loses nothing: cursors, joins and the outbox, on a connection and a store.
import { Connection } from "./connection.js";
import { RelayError } from "./errors.js";
import { Journal } from "./journal.js";
import { Members } from "./members.js";
import { MemoryStore } from "./memory-store.js";
import { isWaiting, Outbox } from "./outbox.js";

/** @import { Files } from "./relay-files.js" */
/** @import { Cursor, Entry, Event, Line, Link, Options, RoomOptions, Wire } from "./types.js" */

const joinsAtOnce = 16; // within the relay's `frame_bytes`
/** How many refused lines are kept, the newest of all rooms: a person may still want to know. */
const refusedLimit = 100;

/** Requests without an answer: they may be refused, for a room that was left meanwhile. */
const unanswered = ["leave", "received", "read", "typing"];

const withdrawn = () => new RelayError("discarded", "It was withdrawn.");

/** @implements {Link} */
export class Client {
  /** @type {string | undefined} */
  user;
  #connection;
  #journal;
  #account;
  /** @type {Outbox} */
  #outbox;
  #opened = Promise.resolve();
  /** @type {(event: Event) => void} */
  #tell = () => {};
  /** @type {Map<string, Cursor>} up to which entries have arrived */
  #cursors = new Map();
  /** @type {Map<string, number>} up to which entries were told */
  #told = new Map();
  /** @type {Map<string, RoomOptions>} the rooms to join */
  #rooms = new Map();
  /** @type {Set<string>} rooms whose first entries are requested */
  #beginning = new Set();
  /** @type {Set<string>} lines that are being stored */
  #storing = new Set();
  /** @type {Set<string>} those of them that were withdrawn */
  #withdrawn = new Set();
  /** @type {Map<string, Line>} refused lines, by id, the oldest first */
  #refused = new Map();
  #members = new Members(
    (room) => {
      if (this.#rooms.has(room) && this.#connection.isOnline) this.#join([room]);
    },
    (message) => this.#connection.post(message),
  );
  /** What uploads files, once there is one. @type {Promise<Files> | undefined} */
  #files;

  /** @param {string | URL} url @param {Options} options */
  constructor(url, options) {
    this.#account = options.account;
    this.#journal = new Journal(options.store ?? new MemoryStore(), (event) => this.#emit(event));
    this.#connection = new Connection(url, options, {
      welcome: (welcome) => this.#welcome(welcome),
      message: (message) => this.#receive(message),
      health: (health) => this.#tell({ type: "health", health }),
      ended: (error) => this.#ended(error),
      sent: () => this.#outbox.sent(),
      unansweredMs: () => this.#outbox.unansweredMs(),
    });
    this.#outbox = new Outbox(this.#connection, (line, outcome) => this.#settle(line, outcome));
  }

  get health() {
    return this.#connection.health;
  }

  /** @param {(event: Event) => void} tell */
  start(tell) {
    this.#tell = tell;
    this.#opened = this.#load();
  }

  async #load() {
    const { user, cursors, outbox } = await this.#journal.open();
    this.user = user ?? this.#account;
    if (user === undefined && this.user !== undefined) this.#journal.add({ user: this.user });
    for (const cursor of cursors) {
      this.#cursors.set(cursor.room, cursor);
      this.#told.set(cursor.room, cursor.last);
    }
    for (const line of outbox) {
      if (line.refused) this.#refused.set(line.id, line);
      else this.#queue(line);
    }
    this.#connection.start();
  }

  // MARK: What the view asks for

  /** @param {string} room @param {RoomOptions} options */
  async open(room, options) {
    await this.#opened;
    this.#rooms.set(room, options);
    this.#journal.add({}, () => this.#openedEvent(room, "opened"));
    // Again, if another tab has: `joined` tells the marks.
    if (this.#connection.isOnline) this.#join([room]);
  }

  /** @param {string} room @param {boolean} forget */
  close(room, forget) {
    this.#rooms.delete(room);
    if (!forget) return this.#connection.post({ type: "leave", room });
    this.#cursors.delete(room);
    this.#told.delete(room);
    this.#journal.add({ forget: [room] });
    this.#connection.request({ type: "leave", room, forget }).catch((error) => this.#fail(error));
  }

  /** @param {Line} line @param {string} [replaced] the id of a refused one */
  async send(line, replaced) {
    this.#tell({ type: "line", room: line.room, line });
    this.#storing.add(line.id);
    this.#refused.delete(line.id); // a tab that has not heard of it sends it again
    await this.#opened;
    // An earlier tab may have left it: its upload goes on where it is.
    const isKnown = this.#outbox.lines(line.room).some(({ id }) => id === line.id);
    // What was withdrawn meanwhile must not come back after a reload.
    const isWanted = !isKnown && !this.#withdrawn.has(line.id);
    const isStored = this.#journal.add(isWanted ? { outbox: [line] } : {});
    if (replaced !== undefined) this.#forget(replaced);
    await isStored;
    this.#storing.delete(line.id);
    if (!this.#withdrawn.delete(line.id)) return isKnown || this.#queue(line);
    if (!this.#outbox.withdraw(line.room, line.id, withdrawn()))
      this.#settle(line, { error: withdrawn() });
  }

  /** @param {Line} line */
  #queue(line) {
    this.#outbox.add(line);
    if (!isWaiting(line)) return;
    const refuse = (/** @type {any} */ error) => this.#outbox.settle(line.room, line.id, { error });
    this.#loadFiles().then((files) => files.upload(line), refuse);
  }

  /** @param {string} path @param {string} [name] */
  fileUrl(path, name) {
    return this.#loadFiles().then((files) => files.url(path, name));
  }

  #loadFiles() {
    this.#files ??= import("./relay-files.js").then(
      ({ Files }) => new Files(this.#connection, this.#journal, this.#outbox, this.#tell),
    );
    return this.#files;
  }

  /** @param {string} room @param {string} id */
  withdraw(room, id) {
    if (this.#storing.has(id)) this.#withdrawn.add(id);
    else if (this.#refused.has(id)) this.#forget(id);
    else this.#outbox.withdraw(room, id, withdrawn());
  }

  /** @param {Line} line @param {import("./outbox.js").Outcome} outcome */
  #settle(line, outcome) {
    const { room, id } = line;
    if (line.upload) this.#files?.then((files) => files.cancel(id));
    const settled = { type: "settled", room, outcomes: [{ id, ...outcome }] };
    if ("ack" in outcome || outcome.error.code === "discarded") {
      this.#journal.add({ settled: [id] }, settled);
      return;
    }
    const refused = { ...line, refused: outcome.error.answer };
    this.#refused.set(id, refused);
    this.#journal.add({ outbox: [refused] }, settled);
    const [oldest] = this.#refused.keys();
    if (this.#refused.size > refusedLimit) this.#forget(oldest);
  }

  /** Keeps a refused line no longer. @param {string} id */
  #forget(id) {
    const line = this.#refused.get(id);
    this.#refused.delete(id);
    if (line) this.#settle(line, { error: withdrawn() });
  }

  /** @param {Wire} message */
  post(message) {
    this.#connection.post(message);
  }

  /** @param {Wire} message @param {AbortSignal} [signal] */
  request(message, signal) {
    return this.#connection.request(message, signal);
  }

  /** @param {string} room @param {{before?: number, limit: number}} range */
  entries(room, range) {
    return this.#journal.entries(room, range);
  }

  async settled() {
    await this.#opened;
    await this.#journal.add({});
    await this.#outbox.settled();
  }

  look() {
    this.#connection.look();
  }

  async probe() {
    return this.#connection.probe();
  }

  async end() {
    this.#connection.end(new RelayError("closed", "The client was closed."));
    await this.#opened;
    await this.#journal.close();
  }

  // MARK: Rooms

  /** @param {Iterable<string>} rooms */
  #join(rooms) {
    const joins = [];
    for (const room of rooms) {
      const cursor = this.#cursors.get(room);
      const { after, backlog = 100 } = this.#rooms.get(room) ?? {};
      const subscribers = true; // tells when the members may be others
      if (cursor) joins.push({ room, after: cursor.last, lineage: cursor.lineage, subscribers });
      else if (after !== undefined) joins.push({ room, after, subscribers });
      else this.#begin(room, backlog);
    }
    for (let i = 0; i < joins.length; i += joinsAtOnce) {
      this.#connection.post({ type: "join", rooms: joins.slice(i, i + joinsAtOnce) });
    }
  }

  /**
   * Begins a room that the store does not know with its newest entries, and joins it after them.
   * @param {string} room @param {number} backlog
   */
  async #begin(room, backlog) {
    if (this.#beginning.has(room)) return;
    this.#beginning.add(room);
    try {
      const limit = Math.max(1, Math.min(backlog, 500));
      const request = { type: "history", room, limit };
      const { entries, head, epoch } = await this.#connection.request(request);
      if (!this.#rooms.has(room)) return;
      const cursor = {
        room,
        last: entries.at(-1)?.seq ?? head,
        lineage: [{ epoch, after: 0 }],
      };
      this.#cursors.set(room, cursor);
      this.#journal.add({ entries: backlog > 0 ? entries : [], cursors: [cursor] }, () =>
        this.#openedEvent(room, "opened", cursor.last),
      );
      this.#join([room]);
    } catch (error) {
      this.#rooms.delete(room);
      this.#tell({ type: "refused", room, error });
    } finally {
      this.#beginning.delete(room);
    }
  }

  /**
   * What the store has of a room.
   * @param {string} room @param {string} reason @param {number} [last]
   */
  async #openedEvent(room, reason, last = this.#told.get(room)) {
    const entries = await this.#journal.entries(room, { limit: 500 });
    const refused = [...this.#refused.values()].filter((line) => line.room === room);
    const lines = [...refused, ...this.#outbox.lines(room)].sort((a, b) => a.at - b.at);
    return { type: "opened", room, reason, last, entries, lines };
  }

  // MARK: What the relay says

  /** @param {Wire} welcome */
  #welcome(welcome) {
    if (this.user !== undefined && this.user !== welcome.user) {
      const message = `This client is for ${this.user}, and the relay names ${welcome.user}.`;
      return this.#connection.end(new RelayError("other_user", message));
    }
    if (this.user === undefined) this.#journal.add({ user: welcome.user });
    this.user = welcome.user;
    this.#tell(welcome);
    this.#join(this.#rooms.keys());
    this.#outbox.restart();
  }

  /** @param {Wire} message */
  #receive(message) {
    switch (message.type) {
      case "message":
        return this.#entry(/** @type {any} */ (message));
      case "joined":
        return this.#joined(message);
      case "ack":
        return this.#outbox.answer(message);
      case "left":
        // Without an entry it was asked for, or follows an error.
        return message.seq === undefined ? undefined : this.#departed(message);
      case "subscribers":
        return this.#members.renew(message.room);
      case "error":
        return this.#error(message);
      default:
        return this.#tell(message);
    }
  }

  /** @param {Wire} joined */
  #joined(joined) {
    const { room, epoch, lineage, resume, received } = joined;
    if (!this.#rooms.has(room)) return; // it was closed meanwhile
    // Entries may have arrived after the join was sent; they come again.
    const after =
      resume === "ok" ? Math.max(joined.after, this.#cursors.get(room)?.last ?? 0) : joined.after;
    const cursor = { room, last: after, lineage: lineage ?? [{ epoch, after: 0 }] };
    this.#cursors.set(room, cursor);
    if (resume === "ok") {
      this.#journal.add({ cursors: [cursor] }, { ...joined, after });
    } else {
      // `truncated`: what is stored would have a gap
      const drop = [{ room, after: resume === "diverged" ? after : 0 }];
      this.#journal.add({ drop, cursors: [cursor] }, joined, () =>
        this.#openedEvent(room, resume, after),
      );
    }
    this.#members.take(joined);
    if (received < after) this.#members.mark(room, after);
  }

  /** An entry has ended the subscription: the store keeps what has arrived. @param {Wire} left */
  #departed(left) {
    if (this.#rooms.delete(left.room)) this.#journal.add({}, left); // after that entry
  }

  /** @param {Entry} entry */
  #entry(entry) {
    const { room, seq, id, from, at } = entry;
    const cursor = this.#cursors.get(room);
    if (!cursor || !this.#rooms.has(room) || seq <= cursor.last) return;
    if (seq > cursor.last + 1) return this.#join([room]); // the relay skips none
    const moved = { ...cursor, last: seq };
    this.#cursors.set(room, moved);
    this.#journal.add(
      { entries: [entry], cursors: [moved] },
      { type: "entries", room, entries: [entry] },
    );
    // As good as its ack. Others may use the same id.
    if (from === this.user) this.#outbox.settle(room, id, { ack: { seq, at } });
    this.#members.arrived(entry);
    this.#members.mark(room, seq);
  }

  /** @param {Wire} error */
  #error(error) {
    const { re, room, retry_after_ms: pause } = error;
    if ((re === "join" || re === "auth") && this.#rooms.has(room)) {
      // or a new token does not allow it; told after what the store has of the room
      if (pause !== undefined)
        return void setTimeout(() => this.#rooms.has(room) && this.#join([room]), pause);
      this.#rooms.delete(room);
      this.#journal.add({}, { type: "refused", room, error: RelayError.from(error) });
    } else if (re === "send") {
      this.#outbox.answer(error);
    } else if (re === "people") {
      this.#tell(error);
    } else if (!unanswered.includes(re)) {
      this.#fail(RelayError.from(error));
    }
  }

  /** @param {RelayError} error */
  #fail(error) {
    this.#tell({ type: "failed", error });
  }

  /** @param {RelayError} error */
  #ended(error) {
    this.#members.end();
    this.#outbox.end();
    this.#tell({ type: "ended", error });
  }

  /** @param {Event} event */
  #emit(event) {
    if (event.type === "entries") this.#told.set(event.room, event.entries.at(-1).seq);
    if (event.type === "joined") this.#told.set(event.room, event.after);
    if (event.type === "opened" && event.last !== undefined) this.#told.set(event.room, event.last);
    this.#tell(event);
  }
}
