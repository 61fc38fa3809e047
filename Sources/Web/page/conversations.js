// What the list shows: conversations, the latest message first, and people.

import { directRoom, isRoomName, isUserName, matching } from "./format.js";

const keptRows = 100;
const keepMs = 500;

/** @import { Kept } from "./kept.js" */
/** @import { Muted } from "./muted.js" */
/** @import { People } from "./people.js" */
/** @import { Relay } from "./relay-client/relay.js" */
/** @import { Message, RoomRow } from "./relay-client/types.js" */
/** @import { Messenger } from "./types.js" */

/**
 * What is kept of a row of relay-client on this device, or all of it.
 * @typedef {Pick<RoomRow, "room" | "title" | "head" | "peer" | "request" | "unread" | "unreadMore"> &
 *   {last?: Last}}
 *   KeptRow
 */

/**
 * @typedef {Pick<Message, "from" | "at" | "seq" | "kind" | "deleted" | "text" | "editedAt">} Last
 */

/**
 * @typedef {object} Row
 * @property {string} room
 * @property {string} title
 * @property {string} [user] of the peer, or undefined for a room
 * @property {number} [head]
 * @property {number} unread
 * @property {boolean} [unreadMore]
 * @property {Last} [last]
 * @property {boolean} [request] a stranger has begun it
 * @property {boolean} [isNew] nobody has written yet, and the directory does not have the person
 */

export class Conversations {
  /** The room that is open: it stays in the list. @type {string | undefined} */
  open;
  /** @type {Relay} */
  #relay;
  /** @type {People} */
  #people;
  #user;
  /** @type {Muted | undefined} */
  #muted;
  /** @type {Kept | undefined} */
  #store;
  /** What was there last: it is shown until there is a connection. @type {KeptRow[]} */
  #kept;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #keeping;
  /** Rooms that were left off the list, and their head then. @type {Map<string, number>} */
  #left = new Map();

  /** @param {Pick<Messenger, "relay" | "people" | "user" | "muted" | "kept">} messenger */
  constructor({ relay, people, user, muted, kept }) {
    this.#relay = relay;
    this.#people = people;
    this.#user = user;
    this.#muted = muted;
    this.#store = kept;
    const rows = kept?.value("list");
    this.#kept = Array.isArray(rows) ? rows : [];
  }

  /**
   * All conversations that are known, the latest message first, then the people one has not written
   * with.
   * @returns {Row[]}
   */
  get all() {
    const { list } = this.#relay.rooms;
    /** @type {KeptRow[]} */
    const known = list.length > 0 || this.#relay.health.state === "online" ? list : this.#kept;
    const there = known.filter(
      ({ room, head }) => room === this.open || !(head <= (this.#left.get(room) ?? -1)),
    );
    /** @type {Row[]} */
    const rows = there.map((row) => ({
      ...row,
      user: row.peer,
      title:
        row.peer === undefined
          ? (row.title ?? row.room)
          : (this.#people.name(row.peer) ??
            (row.title && row.title !== row.room ? row.title : row.peer)),
    }));
    const rooms = new Set(rows.map(({ room }) => room));
    for (const person of this.#people.known.values()) {
      if (!person.room || rooms.has(person.room) || person.user === this.#user) continue;
      rows.push({
        room: person.room,
        title: person.name || person.user,
        user: person.user,
        unread: 0,
      });
    }
    return rows;
  }

  /**
   * The conversations that have the words, then a person who is not in the directory. A room that
   * is not in the list is offered only where one asks for a room by `#`: what is meant for a person
   * must not be read by all. After `@` there are no rooms.
   * @param {string} query
   * @returns {Row[]}
   */
  find(query) {
    const [, sign, words] = /** @type {RegExpExecArray} */ (/^\s*([@#]?)([\s\S]*)$/.exec(query));
    const all =
      sign === ""
        ? this.all
        : this.all.filter(({ user }) => (user === undefined) === (sign === "#"));
    const rows = matching(all, words);
    const name = words.trim().toLowerCase();
    const add = (/** @type {string} */ room, /** @type {string | undefined} */ user) =>
      all.some((row) => row.room === room) ||
      rows.push({ room, user, title: name, unread: 0, isNew: true });
    if (sign === "#" && isRoomName(name)) add(name, undefined);
    if (sign !== "#" && isUserName(name) && name !== this.#user)
      add(directRoom(this.#user, name), name);
    return rows;
  }

  /** @param {string} room @returns {Row | undefined} */
  row(room) {
    return this.all.find((row) => row.room === room);
  }

  get unread() {
    const isQuiet = (/** @type {Row} */ { room, request }) => request || this.#muted?.has(room);
    return this.all.reduce((sum, row) => sum + (isQuiet(row) ? 0 : row.unread), 0);
  }

  /**
   * Takes a room that was left off the list, until something happens in it.
   * @param {string} room
   */
  forget(room) {
    const row = this.#relay.rooms.list.find((one) => one.room === room);
    if (row && !row.listed) this.#left.set(room, row.head);
  }

  /** Keeps the rows on this device. */
  keep() {
    if (this.#keeping !== undefined) return;
    this.#keeping = setTimeout(() => {
      this.#keeping = undefined;
      const rows = this.#relay.rooms.list
        .slice(0, keptRows)
        .map(({ room, title, head, peer, request, unread, last }) => ({
          room,
          title: peer === undefined ? title : (this.#people.name(peer) ?? title),
          head,
          peer,
          request,
          unread,
          last: last && {
            from: last.from,
            at: last.at,
            seq: last.seq,
            kind: last.kind,
            deleted: last.deleted,
            text: last.text?.slice(0, 200),
          },
        }));
      if (rows.length > 0) this.#store?.set("list", rows);
    }, keepMs);
  }
}
