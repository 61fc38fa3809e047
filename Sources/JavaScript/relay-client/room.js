// A room as a view sees it.
import { RelayError } from "./errors.js";
import { History } from "./history.js";
import { MemberRoom } from "./member-room.js";
import { isOut } from "./membership.js";
import { Timeline } from "./timeline.js";

/** @import { Sender } from "./sender.js" */
/** @import { Departure, Entry, Event, Link, Marks, Message, PageOptions } from "./types.js" */
/** @import { Pending, Progress, Settled } from "./types.js" */

/**
 * @extends {MemberRoom<{messages: Message[], changes: Message[], pending: void, state: void,
 *   reset: {reason: string, after: number}, marks: {user: string} & Marks,
 *   typing: {user: string, on: boolean}, progress: Progress, membership: void,
 *   departure: Departure}>}
 */
export class Room extends MemberRoom {
  /** @type {"opening" | "live" | "refused" | "closed"} */
  state = "opening";
  /** @type {RelayError | undefined} */
  error;
  first = 0;
  head = 0;
  /** The last entry that has arrived. @type {number | undefined} */
  last;
  /** @type {Map<string, Marks>} */
  marks = new Map();
  /** @type {Marks} */
  mine = { read: 0, received: 0 };
  /** @type {Set<string>} */
  typists = new Set();
  /** @type {Pending[]} */
  pending = [];
  /** @type {History} */
  history;
  #timeline;
  #link;
  #sender;
  /** The position from which `messages` goes on. @type {number | undefined} */
  #start;
  /** Ends iterations. */
  #end = new AbortController();
  /** @type {() => void} */
  #forgotten;

  /**
   * @param {Link} link
   * @param {Sender} sender
   * @param {string} name
   * @param {() => void} forgotten
   */
  constructor(link, sender, name, forgotten) {
    super(link, sender, name);
    this.#link = link;
    this.#sender = sender;
    this.#forgotten = forgotten;
    this.#timeline = new Timeline(link);
    this.history = new History(link, name, this.#timeline);
  }

  // MARK: Messages

  get latest() {
    return this.#timeline.latest;
  }

  /** @param {number} seq */
  get(seq) {
    return this.#timeline.get(seq);
  }

  get messages() {
    return this.since();
  }

  /**
   * Each message after an entry once, in order, in its state at that time, for as long as the room
   * is open.
   * @param {number} [seq] by default where the room began
   * @param {{signal?: AbortSignal}} [options]
   * @returns {AsyncGenerator<Message, void, void>}
   */
  async *since(seq, { signal } = {}) {
    const { messagesSince } = await import("./iteration.js"); // a page does not need it
    const held = {
      start: () => this.#start,
      after: (/** @type {number} */ seq) => this.#timeline.after(seq),
      ended: this.#end.signal,
    };
    yield* messagesSince(this, held, seq, signal);
  }

  /**
   * The page around a message, or around the first one at or after a time.
   * @param {number | Date} place
   * @param {PageOptions} [options]
   */
  async jump(place, options) {
    const seq =
      typeof place === "number" ? place : await this.history.seqAt(place, options?.signal);
    return this.history.around(seq, options);
  }

  // MARK: Sending

  /** Sends a refused entry again, as a new one. @param {string} id */
  retry(id) {
    const refused = this.pending.find((pending) => pending.id === id);
    if (!refused) throw new RelayError("no_such_entry", "It is not pending.");
    this.#settle([{ id }]);
    return this.#sender.send(this.name, () => this.#sender.fieldsOf(refused), {}, id);
  }

  /** Forgets a refused entry, or withdraws one that was not sent yet. @param {string} id */
  discard(id) {
    this.#sender.withdraw(this.name, id);
    const isRefused = this.pending.find((pending) => pending.id === id)?.state === "refused";
    if (isRefused) this.#settle([{ id }]);
  }

  // MARK: Marks

  /** A person has seen everything up to `seq`. @param {number} [seq] */
  read(seq = this.last ?? 0) {
    if (seq <= this.mine.read) return;
    this.#mark(this.#link.user ?? "", { read: seq, received: Math.max(seq, this.mine.received) });
    this.#link.post({ type: "read", room: this.name, seq });
  }

  /** @param {string} user @param {Marks} marks they never go back */
  #mark(user, { read, received }) {
    const isOwn = user === this.#link.user;
    const old = this.marks.get(user) ?? (isOwn ? this.mine : { read: 0, received: 0 });
    const marks = { read: Math.max(read, old.read), received: Math.max(received, old.received) };
    if (marks.read === old.read && marks.received === old.received && this.marks.has(user)) return;
    this.marks.set(user, marks);
    if (isOwn) this.mine = marks;
    this.emit("marks", { user, ...marks });
  }

  // MARK: Closing

  /**
   * Leaves the room; with `forget` it also ends the membership.
   * @param {{forget?: boolean}} [options]
   */
  close({ forget = false } = {}) {
    if (this.state === "closed") return;
    this.#link.close(this.name, forget);
    this.finish("closed");
  }

  /** @param {"closed" | "refused"} state @param {RelayError} [error] */
  finish(state, error) {
    this.error = error;
    this.#end.abort();
    this.#forgotten();
    this.#dropStored(Infinity);
    this.#become(state);
  }

  // MARK: What the link tells

  /** @param {Event} event */
  receive(event) {
    switch (event.type) {
      case "opened":
        return this.#opened(event);
      case "joined":
        return this.#joined(event);
      case "entries":
        return this.#entries(event.entries);
      case "line":
        return this.#lines([event.line]);
      case "settled":
        return this.#settle(event.outcomes);
      case "receipt":
        return this.#mark(event.user, /** @type {any} */ (event));
      case "typing":
        return this.#type(event.user, event.on);
      case "progress":
        return this.emit("progress", /** @type {any} */ (event));
      case "refused":
        return this.finish("refused", event.error);
      case "left":
        return this.#departed(event);
    }
  }

  /** @param {Event} event */
  #opened({ reason, last, entries, lines }) {
    this.#lines(lines);
    const floor = (entries[0]?.seq ?? (last ?? 0) + 1) - 1;
    if (reason === "opened" && this.last !== undefined && floor <= this.last)
      return this.#entries(entries);
    this.#start ??= last;
    this.#govern(entries);
    this.last = last;
    this.#dropStored(reason === "diverged" || reason === "reset" ? Infinity : (last ?? 0));
    this.#timeline.reset(entries, floor);
    this.emit("reset", { reason, after: last ?? 0 });
  }

  /** @param {Event} joined */
  #joined(joined) {
    const { first, head, after, resume, members, read, received } = joined;
    this.membership.join(joined);
    this.first = first;
    this.head = Math.max(head, after);
    this.#start ??= after;
    if (resume === "ok") {
      this.last = after;
      this.#dropStored(after);
    } else if (resume !== "truncated") {
      // another log, with other marks
      this.marks.clear();
      this.mine = { read: 0, received: 0 };
    }
    if (this.mine.read > read)
      this.#link.post({ type: "read", room: this.name, seq: this.mine.read });
    const users = new Set(members?.map((/** @type {{user: string}} */ { user }) => user));
    for (const user of this.marks.keys()) if (!users.has(user)) this.marks.delete(user);
    for (const { user, ...marks } of members ?? []) this.#mark(user, marks);
    if (this.#link.user !== undefined) this.#mark(this.#link.user, { read, received });
    this.#become("live");
    this.emit("membership", undefined);
  }

  /** @param {Event} left */
  #departed(left) {
    this.error = this.depart(left);
    // It is not forgotten: what waits to be sent has an outcome yet.
    this.#end.abort();
    this.#dropStored(Infinity);
    this.#become("refused");
    this.emit("departure", /** @type {Departure} */ (this.departure));
  }

  /** @param {Entry[]} entries */
  #govern(entries) {
    for (const { kind, user, role, seq } of entries)
      if (kind === "member" && isOut(role) && seq > (this.last ?? 0)) this.marks.delete(user);
    if (this.membership.take(entries, this.#link.user)) this.emit("membership", undefined);
  }

  /** A new connection, which tells who types. */
  renew() {
    for (const user of this.typists) this.#type(user, false);
  }

  /** @param {Entry[]} entries */
  #entries(entries) {
    const fresh = entries.filter(({ seq }) => seq > (this.last ?? -1));
    if (fresh.length === 0) return;
    this.#govern(fresh);
    const own = new Set();
    for (const { from, id, seq } of fresh) {
      this.last = seq;
      this.#type(from, false);
      this.#advance(from, seq);
      if (from === this.#link.user) own.add(id);
    }
    this.head = Math.max(this.head, /** @type {number} */ (this.last));
    // An own change is in the log now: what it shows does not change in between.
    this.#replace(
      this.pending.filter(({ id }) => !own.has(id)),
      fresh,
    );
  }

  /**
   * One's own entry moves one's marks, if nothing of others lies in between.
   * @param {string} user
   * @param {number} seq
   */
  #advance(user, seq) {
    const marks = this.marks.get(user);
    if (!marks) return;
    const moved = (/** @type {number} */ mark) => (mark === seq - 1 ? seq : mark);
    this.#mark(user, { read: moved(marks.read), received: moved(marks.received) });
  }

  /** @param {string} user @param {boolean} on */
  #type(user, on) {
    if (this.typists.has(user) === on) return;
    if (on) this.typists.add(user);
    else this.typists.delete(user);
    this.emit("typing", { user, on });
  }

  /** @param {import("./types.js").Line[]} lines */
  #lines(lines) {
    const known = new Set(this.pending.map(({ id }) => id));
    const added = lines
      .filter(({ id }) => !known.has(id))
      .map((line) => this.#sender.pendingOf(line));
    if (added.length > 0) this.#replace([...this.pending, ...added]);
  }

  /** @param {Settled[]} outcomes */
  #settle(outcomes) {
    const byId = new Map(outcomes.map((outcome) => [outcome.id, outcome]));
    this.#replace(
      this.pending.flatMap((pending) => {
        const outcome = byId.get(pending.id);
        return outcome ? this.#remainder(pending, outcome) : [pending];
      }),
    );
  }

  /**
   * What is left of an own entry: it is refused, or stored; or it has gone, since it was discarded
   * or is a message now.
   * @param {Pending} pending @param {Settled} outcome
   * @returns {Pending[]}
   */
  #remainder(pending, { ack, error }) {
    if (error && error.code !== "discarded") return [{ ...pending, state: "refused", error }];
    if (ack && this.#isOpen && ack.seq > (this.last ?? 0))
      return [{ ...pending, state: "stored", seq: ack.seq }];
    return [];
  }

  /** Whether entries arrive, now or soon. */
  get #isOpen() {
    return this.state === "opening" || this.state === "live";
  }

  /**
   * Own entries that are stored do not arrive any more, since they have gone with their log, or the
   * room goes on after them.
   * @param {number} last those up to this one
   */
  #dropStored(last) {
    const isGone = (/** @type {Pending} */ { state, seq = 0 }) => state === "stored" && seq <= last;
    this.#replace(this.pending.filter((pending) => !isGone(pending)));
  }

  /** @param {Pending[]} pending @param {Entry[]} [entries] that have arrived with this */
  #replace(pending, entries = []) {
    const isOther =
      pending.length !== this.pending.length || pending.some((one, n) => one !== this.pending[n]);
    const changes = pending.filter(({ target, state }) => target && state !== "refused");
    const { added, changed } = this.#timeline.add(entries, changes, this.#link.user);
    this.pending = pending;
    if (isOther) this.emit("pending", undefined);
    if (added.length > 0) this.emit("messages", added);
    if (changed.length > 0) this.emit("changes", changed);
  }

  /** @param {Room["state"]} state */
  #become(state) {
    this.state = state;
    this.emit("state", undefined);
  }
}
