// The client as a program sees it.
import { checkedRoom } from "./check.js";
import { Directory, PresenceMap } from "./directory.js";
import { abortable, Emitter } from "./emitter.js";
import { RelayError, toldBy } from "./errors.js";
import { Room } from "./room.js";
import { RoomList } from "./room-list.js";
import { Sender } from "./sender.js";
/** @import { Event, Health, Link, Options, Presence, RoomOptions, RoomSettings } from "./types.js" */
/** @import { Wire } from "./types.js" */

/**
 * @extends {Emitter<{health: Health, ended: RelayError, error: RelayError, presence: Presence,
 *   store: RelayError | undefined, blocks: Set<string>}>}
 */
export class Relay extends Emitter {
  /** What the relay lets this client do. @type {Record<string, number> | undefined} */
  limits;
  /** Name and version of the relay. @type {string | undefined} */
  server;
  /** Why nothing is stored any more. @type {RelayError | undefined} */
  storeError;
  /** The first connection is authenticated. @type {Promise<void>} */
  ready;
  /** @type {RoomList} */
  rooms;
  /** @type {Directory} */
  people;
  /** @type {PresenceMap} */
  presence;
  /** @type {Map<string, Room>} `__proto__` is a legal name */
  #rooms = new Map();
  /** Once they are used. @type {Set<string> | undefined} */
  #blocks;
  #link;
  /** While a page is visible. @type {number | undefined} */
  #unansweredMs;
  #sender;
  #becomeReady = () => {};
  /** @type {(error: RelayError) => void} */
  #neverReady = () => {};

  /** @param {Link} link @param {Options} options */
  constructor(link, { signal, store }) {
    super();
    this.#link = link;
    this.#sender = new Sender(link, store?.backup);
    this.presence = new PresenceMap(link, (presence) => this.emit("presence", presence));
    this.people = new Directory(link, this.presence);
    const peer = (/** @type {Record<string, any>} */ told) => this.presence.put(told);
    this.rooms = new RoomList(link, (name) => this.#rooms.get(name), peer);
    this.ready = new Promise((resolve, reject) => {
      this.#becomeReady = resolve;
      this.#neverReady = reject;
    });
    toldBy("ended", this.ready);
    // Only a page shows it.
    if (globalThis.document)
      import("./liveness.js").then(({ measure }) =>
        measure(link, (ms) => {
          this.#unansweredMs = ms;
          this.emit("health", this.health);
        }),
      );
    link.start((event) => this.#receive(event));
    if (signal?.aborted) this.close();
    signal?.addEventListener("abort", () => this.close());
  }

  get user() {
    return this.#link.user;
  }

  get health() {
    return { ...this.#link.health, unansweredMs: this.#unansweredMs };
  }

  /** How many own entries have no outcome yet. */
  get unsettled() {
    return this.#sender.count;
  }

  /**
   * @param {string} name
   * @param {RoomOptions} [options] count for the first call
   */
  room(name, options = {}) {
    const known = this.#rooms.get(checkedRoom(name));
    if (known && known.state !== "refused") return known;
    const room = new Room(this.#link, this.#sender, name, () => {
      if (this.#rooms.get(name) === room) this.#rooms.delete(name);
    });
    room.on("marks", ({ user, read }) => user === this.user && this.rooms.read(name, read));
    room.accept = (options) => this.rooms.accept(name, options);
    this.#rooms.set(name, room);
    this.#link.open(name, options);
    return room;
  }

  /**
   * Makes a room of which the user is the owner. Resolves with it once that is durable.
   * @param {RoomSettings} settings
   * @param {{name?: string, signal?: AbortSignal}} [options] without a name the relay chooses one
   *   that no one can guess
   */
  async createRoom(settings, { name = "", signal } = {}) {
    const room = name && checkedRoom(name);
    const { createRoom } = await import("./member-actions.js"); // most programs do not need it
    const ack = await createRoom(this.#link, settings, room, signal);
    return this.room(ack.room);
  }

  /** The users that this one has blocked: another set after each change. Loading begins with the first use. */
  get blocks() {
    if (!this.#blocks) {
      this.#blocks = new Set();
      this.#loadBlocks();
    }
    return this.#blocks;
  }

  /**
   * Blocks a user, or ends that.
   * @param {string} user @param {boolean} [on] @param {{signal?: AbortSignal}} [options]
   */
  async block(user, on = true, options = {}) {
    await this.request({ type: "block", user, on }, options);
    await this.#loadBlocks();
  }

  #loadBlocks() {
    return this.request({ type: "blocks" }).then(
      (answer) => this.#receive(answer),
      // An older relay knows none, and the end is told by another event.
      (error) =>
        error.code === "unknown_type" ||
        this.health.state === "ended" ||
        this.#receive({ type: "failed", error }),
    );
  }

  /** Any request of relay.v1. @param {Wire} message @param {{signal?: AbortSignal}} [options] */
  request(message, { signal } = {}) {
    return this.#link.request(message, signal);
  }

  /** Everything that was sent has an outcome. @param {{signal?: AbortSignal}} [options] */
  async settled({ signal } = {}) {
    await abortable(this.#link.settled(), signal);
  }

  /** Connects now, if it waits. */
  retry() {
    this.#link.look();
  }

  /** Ends the client. What is not acknowledged stays in the store. */
  close() {
    return this.#link.end();
  }

  /** @param {Event} event */
  #receive(event) {
    switch (event.type) {
      case "health":
        return this.emit("health", this.health);
      case "welcome":
        return this.#welcome(event);
      case "ended":
        return this.#ended(event.error);
      case "failed":
        if (event.error.code === "store_failed") this.#noteStore(event.error);
        return this.emit("error", event.error);
      case "store":
        return this.#noteStore(event.error);
      case "presence":
        return this.presence.put(event);
      case "blocks":
        this.#blocks = new Set(event.users);
        return this.emit("blocks", this.#blocks);
      case "error":
        return this.people.receive(event);
    }
    const room = this.#rooms.get(event.room);
    if (event.type === "settled") event.outcomes.forEach(this.#sender.settle, this.#sender);
    if (event.type === "progress") this.#sender.tell(/** @type {any} */ (event));
    room?.receive(event);
    this.rooms.receive(event);
    if (event.type === "refused") this.emit("error", event.error);
  }

  /** @param {RelayError | undefined} error */
  #noteStore(error) {
    if (error?.message === this.storeError?.message) return;
    this.storeError = error;
    this.emit("store", error);
  }

  /** @param {Event} welcome */
  #welcome({ limits, server }) {
    this.limits = this.#sender.limits = limits;
    this.server = server;
    this.#becomeReady();
    for (const room of this.#rooms.values()) room.renew();
    this.presence.renew();
    this.rooms.renew();
    this.people.renew();
    if (this.#blocks) this.#loadBlocks();
  }

  /** @param {RelayError} error */
  #ended(error) {
    this.#neverReady(error);
    this.rooms.end();
    this.#sender.end(error);
    const isClosed = error.code === "closed";
    for (const room of this.#rooms.values()) room.finish("closed", isClosed ? undefined : error);
    this.emit("ended", error);
  }
}
