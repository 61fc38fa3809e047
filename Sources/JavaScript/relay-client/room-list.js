// The rooms of the user and the listed ones, the latest message first, as they change.
import { abortable, Emitter } from "./emitter.js";
import { fold, isContent, isNotice, messageOf } from "./fold.js";
import { whileVisible } from "./visible.js";

/** @import { Event, Link, Message, PageOptions, RoomRow, Wire } from "./types.js" */
/** @import { Room } from "./room.js" */

const pageLimit = 50;
/**
 * How often the first rows are asked for while the page is visible, and how many: the relay tells of
 * entries in rooms of which one is a member, and not in those that are only listed.
 */
const refreshMs = 5000;
const refreshLimit = 10;

/** @extends {Emitter<{change: void}>} */
export class RoomList extends Emitter {
  /** Whether all rows are loaded. */
  complete = false;
  /** Why the last page could not be loaded. @type {any} */
  problem;
  /** @type {Map<string, RoomRow>} in the order of the list */
  #rows = new Map();
  /** @type {RoomRow[] | undefined} */
  #list;
  /** @type {string | undefined} */
  #cursor;
  /** @type {Promise<void> | undefined} the loading that is going on */
  #loading;
  #isUsed = false;
  #isOutdated = false;
  #isRefreshing = false;
  #link;
  #roomOf;
  #peer;
  #end = new AbortController();

  /**
   * @param {Link} link
   * @param {(name: string) => Room | undefined} roomOf a room that is open
   * @param {(told: Record<string, any>) => void} peer told how the peer of a direct room is
   */
  constructor(link, roomOf, peer) {
    super();
    this.#link = link;
    this.#roomOf = roomOf;
    this.#peer = peer;
    whileVisible(refreshMs, () => this.#refresh(), this.#end.signal);
  }

  get list() {
    this.#use();
    this.#list ??= [...this.#rows.values()].sort(byLast);
    return this.#list;
  }

  end() {
    this.#end.abort();
  }

  /**
   * Loads the next page.
   * @param {PageOptions} [options]
   * @returns {Promise<boolean>} false at the end
   */
  async more({ limit = pageLimit, signal } = {}) {
    this.#use(limit);
    await abortable(/** @type {Promise<void>} */ (this.#loading), signal);
    if (this.#cursor === undefined) return false;
    await abortable(this.#load(limit, this.#cursor), signal);
    return true;
  }

  /** Begins with the first use. @param {number} [limit] */
  #use(limit = pageLimit) {
    if (this.#isUsed) return;
    this.#isUsed = true;
    this.#load(limit);
  }

  /**
   * Loads a page; without cursor the first, which renews all rows.
   * @param {number} limit @param {string} [cursor]
   */
  #load(limit, cursor) {
    this.#isOutdated = false;
    const request = this.#link.request({ type: "rooms", limit, cursor });
    this.#loading = request.then(
      (page) => this.#take(page, cursor === undefined),
      (error) => {
        this.problem = error;
        this.#changed();
      },
    );
    return this.#loading;
  }

  /** @param {Wire} page @param {boolean} isFirst */
  #take({ rooms, next }, isFirst) {
    this.problem = undefined;
    if (isFirst) this.#rows = new Map();
    this.#takeRows(rooms);
    this.#cursor = next;
    this.complete = next === undefined;
    this.#changed();
  }

  /** @param {Wire[]} rows */
  #takeRows(rows) {
    for (const row of rows) {
      const { room, peer, presence, last_seen } = row;
      this.#rows.set(room, rowOf(row, this.#link));
      if (peer !== undefined && presence) this.#peer({ user: peer, presence, last_seen });
      // The page may be older than what was read since it was asked for.
      this.read(room, this.#roomOf(room)?.mine.read ?? 0);
    }
  }

  /** Takes those of the first rows that have newer entries, which no event has told. */
  #refresh() {
    const isListed = [...this.#rows.values()].some(({ listed }) => listed);
    if (this.#isRefreshing || !isListed || this.#link.health.state !== "online") return;
    this.#isRefreshing = true;
    const isNewer = (/** @type {Wire} */ { room, head }) =>
      !(head <= (this.#rows.get(room)?.head ?? -1));
    this.#link
      .request({ type: "rooms", limit: refreshLimit })
      .then(
        ({ rooms }) => {
          const newer = rooms.filter(isNewer);
          if (newer.length === 0) return;
          this.#takeRows(newer);
          this.#changed();
        },
        (error) => {
          this.problem = error;
          this.#changed();
        },
      )
      .finally(() => {
        this.#isRefreshing = false;
      });
  }

  /**
   * Accepts a direct room that a stranger has begun.
   * @param {string} room
   * @param {{signal?: AbortSignal}} [options]
   */
  async accept(room, { signal } = {}) {
    await this.#link.request({ type: "accept", room }, signal);
    const row = this.#rows.get(room);
    if (row) this.#put({ ...row, request: undefined }, false);
  }

  /** After a new connection: as many rows as before. */
  renew() {
    if (this.#isUsed) this.#load(Math.min(200, Math.max(pageLimit, this.#rows.size)));
  }

  // MARK: What changes rows

  /** @param {Event} event */
  receive(event) {
    if (!this.#isUsed) return;
    const row = this.#rows.get(event.room);
    if (event.type === "activity") this.#activity(event, row);
    else if (event.type === "left") this.#remove(row);
    else if (row && event.type === "entries") this.#entries(event, row);
    else if (row && event.type === "receipt" && event.user === this.#link.user)
      this.#read(event.read, row);
    // Or beyond the rows that are loaded: what is written there brings it to the front.
    else if (!row && (event.type === "joined" || event.type === "entries")) this.#outdate();
    // It begins with entries that no event tells.
    else if (row && event.type === "opened" && (event.last ?? 0) > row.head) this.#outdate();
  }

  /** @param {Event} activity @param {RoomRow} [row] */
  #activity({ room, head, unread, unread_more: unreadMore, request, last }, row) {
    if (!row) return this.#outdate(); // a new room: its title is in the list alone
    this.#put(
      {
        ...row,
        room,
        head,
        unread,
        unreadMore,
        request,
        last: last ? latest(row.last, last, this.#link) : row.last,
      },
      true,
    );
    if (last && isNotice(last)) this.#outdate();
  }

  /** The user is no member any more. @param {RoomRow} [row] */
  #remove(row) {
    if (!row || row.listed) return;
    this.#rows.delete(row.room);
    this.#changed();
  }

  /**
   * Entries of a room that is joined: the relay sends no `activity` of it.
   * @param {Event} event
   * @param {RoomRow} row
   */
  #entries({ entries }, row) {
    let { head, read, unread, last } = row;
    for (const entry of entries) {
      if (entry.seq <= head) continue;
      const isOwn = entry.from === this.#link.user;
      if (isOwn && read === head) read = entry.seq;
      head = entry.seq;
      if (isContent(entry) && !isOwn) unread += 1;
      last = latest(last, entry, this.#link);
    }
    if (head > row.head) this.#put({ ...row, head, read, unread, last }, true);
    if (entries.some(isNotice)) this.#outdate(); // it may have another title
  }

  /** @param {number} read @param {RoomRow} row */
  #read(read, row) {
    if (read <= row.read) return;
    const messages = this.#roomOf(row.room)?.latest.filter(
      (message) => message.seq > read && message.from !== this.#link.user && isContent(message),
    );
    const unread = read >= row.head ? 0 : Math.min(row.unread, messages?.length ?? row.unread);
    this.#put({ ...row, read, unread, unreadMore: unread > 0 && row.unreadMore }, false);
  }

  /** The own mark has moved, here. @param {string} room @param {number} read */
  read(room, read) {
    const row = this.#rows.get(room);
    if (row) this.#read(read, row);
  }

  /** @param {RoomRow} row @param {boolean} isFirst */
  #put(row, isFirst) {
    if (row.last?.from === this.#link.user) row.request = undefined; // answering accepts it
    if (isFirst) {
      this.#rows.delete(row.room);
      this.#rows = new Map([[row.room, row], ...this.#rows]);
    } else {
      this.#rows.set(row.room, row);
    }
    this.#changed();
  }

  /** Loads the rows again, soon, once for all that comes together. */
  #outdate() {
    if (this.#isOutdated) return;
    this.#isOutdated = true;
    this.#loading?.then(() => this.renew());
  }

  #changed() {
    this.#list = undefined;
    this.emit("change", undefined);
  }
}

/**
 * The order of the last message: an edit, a deletion or a reaction is none. Rooms without one keep
 * the order of the relay.
 * @param {RoomRow} a @param {RoomRow} b
 */
const byLast = (a, b) => (b.last?.at ?? 0) - (a.last?.at ?? 0);

/** @param {Wire} row @param {Link} link @returns {RoomRow} */
function rowOf({ unread_more: unreadMore, last, ...row }, link) {
  return /** @type {any} */ ({ ...row, unreadMore, last: last && messageOf(last, link) });
}

/**
 * The last message of a room after an entry.
 * @param {Message | undefined} last
 * @param {any} entry
 * @param {Link} link
 */
function latest(last, entry, link) {
  if (isContent(entry)) return messageOf(entry, link);
  return last && last.seq === entry.target ? fold(last, entry) : last;
}
