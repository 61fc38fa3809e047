// What the transports without a WebSocket have in common: requests go out by POST, one batch after
// the other.
import { requested } from "./requested.js";

/** @import { Transport, TransportContext, Wire } from "./types.js" */

const batchLimit = 100;
const batchBytes = 60_000; // within the relay's `frame_bytes`
const activityPauseMs = 5000;

/**
 * @typedef {{room: string, after?: number, lineage?: import("./types.js").Epoch[]}} Place a
 *   position in a room
 */

/**
 * Behaves like a connection. A subclass delivers the entries of joined rooms. Over HTTP nobody
 * types, and the own presence is that of the stream.
 * @implements {Transport}
 */
export class HTTPTransport {
  /** @type {TransportContext} */
  context;
  /** @type {Map<string, Place>} the joined rooms, and the last entry that was received */
  places = new Map();
  #stop = new AbortController();
  /** @type {{message: Wire, text: string, hear: (answer: Wire) => void}[]} */
  #queue = [];
  #isPosting = false;
  #token;
  #watchesRooms = false;
  /** @type {Map<string, {head: number, request?: boolean}>} what `activity` has told of each room */
  #heads = new Map();

  /** @param {TransportContext} context */
  constructor(context) {
    this.context = context;
    this.#token = context.token;
    this.#begin().catch((error) => this.fail(1006, String(error)));
  }

  async #begin() {
    const { time } = await this.ask({ type: "ping" });
    const { sub = this.context.user, exp } = claims(this.#token);
    const user = sub ?? (await this.#account());
    // Limits are not known: the relay refuses what is beyond them.
    const limits = { frame_bytes: 0, text_bytes: 0, rooms: 0 };
    this.receive({
      type: "welcome",
      user,
      time,
      heartbeat_s: 25,
      limits,
      expires_in_ms: exp && 1000 * exp - time,
    });
  }

  /** The user of a token that does not name one, or of the cookie. */
  async #account() {
    const response = await this.fetch("v1/me");
    if (response.ok) return (await response.json()).user;
    const { problem } = await this.refused(response);
    throw new Error(problem.message);
  }

  // MARK: Transport

  /** @param {Wire} message @param {string} text */
  send(message, text) {
    const { type, room, rooms, ref, forget } = message;
    const answer = (/** @type {Wire} */ wire) =>
      ref !== undefined && this.receive({ ...wire, ref });
    switch (type) {
      case "join":
        return this.join(rooms ?? [message]);
      case "auth": {
        this.#token = message.token;
        const { exp } = claims(this.#token);
        return this.receive({ type: "renewed", expires_in_ms: exp && 1000 * exp - Date.now() });
      }
      case "presence":
      case "typing":
        return void answer({ type: "ok" });
      case "received": // needs a join in its batch
        this.ask({ type: "join", room });
        this.ask(message);
        return;
      case "leave":
        this.leave(room);
        if (!forget) return void answer({ type: "left", room });
        break;
      case "rooms":
        this.#watchRooms();
    }
    this.#queue.push({ message, text, hear: (answer) => this.#answered(message, answer) });
    this.#post();
  }

  close() {
    this.#stop.abort();
  }

  // MARK: For subclasses

  /** @param {Place[]} _places */
  join(_places) {}

  /** @param {string} room */
  leave(room) {
    this.places.delete(room);
  }

  get signal() {
    return this.#stop.signal;
  }

  /** @param {Wire} message */
  receive(message) {
    if (!this.signal.aborted) this.context.receive(message);
  }

  /** @param {number} code @param {string} why @param {boolean} [isFit] the transport works */
  fail(code, why, isFit) {
    if (this.signal.aborted) return;
    this.#stop.abort();
    this.context.closed(code, why, isFit);
  }

  /**
   * The answer to a request of the transport's own.
   * @param {Wire} message
   * @returns {Promise<Wire>}
   */
  ask(message) {
    return new Promise((resolve) => {
      this.#queue.push({ message, text: JSON.stringify(message), hear: resolve });
      this.#post();
    });
  }

  /**
   * @param {string} path
   * @param {[string, string | number][]} [query]
   * @param {RequestInit} [init]
   */
  fetch(path, query = [], init = {}) {
    const url = new URL(path, this.context.base);
    for (const [name, value] of query) url.searchParams.append(name, String(value));
    const access = { ...this.context, token: this.#token, signal: this.signal };
    return requested(access, url, init);
  }

  /**
   * An answer that is not 200. Returns how long to wait before the same is tried again, or
   * undefined where that is of no use.
   * @param {Response} response
   * @returns {Promise<{retryAfterMs?: number, problem: Wire}>}
   */
  async refused(response) {
    const problem = await response.json().catch(() => ({}));
    const wire = {
      ...problem,
      type: "error",
      message: problem.detail ?? `HTTP ${response.status}`,
    };
    const seconds = Number(response.headers.get("Retry-After"));
    if (response.status === 429 || response.status === 503) {
      return { retryAfterMs: problem.retry_after_ms ?? 1000 * (seconds || 1), problem: wire };
    }
    if (response.status === 401 || (response.status === 403 && !problem.room)) {
      this.receive({ ...wire, re: undefined });
      this.fail(response.status === 401 ? 4401 : 4403, wire.message);
    }
    return { problem: wire };
  }

  // MARK: Requests

  async #post() {
    if (this.#isPosting) return;
    this.#isPosting = true;
    try {
      await null; // what is sent together goes together
      while (this.#queue.length > 0 && !this.signal.aborted) await this.#postBatch(this.#batch());
    } catch (error) {
      this.fail(1006, String(error));
    }
    this.#isPosting = false;
  }

  #batch() {
    let [count, size] = [0, 0];
    for (const { text } of this.#queue) {
      size += text.length + 1;
      if (count === batchLimit || (count > 0 && size > batchBytes)) break;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  /**
   * After a send that it refuses for a while, the relay refuses those that follow on the same
   * connection, and batches are not on one: so those that wait already are refused here.
   * @param {Wire} message @param {Wire} answer
   */
  #answered({ type, room }, answer) {
    this.receive(answer);
    if (type !== "send" || answer.retry_after_ms === undefined) return;
    const follows = (/** @type {{message: Wire}} */ { message }) =>
      message.type === type && message.room === room;
    const following = this.#queue.filter(follows);
    this.#queue = this.#queue.filter((item) => !follows(item));
    for (const { message } of following)
      this.receive({ ...answer, id: message.id, ref: message.ref });
  }

  /** @param {{message: Wire, text: string, hear: (answer: Wire) => void}[]} batch */
  async #postBatch(batch) {
    const body = `[${batch.map(({ text }) => text).join()}]`;
    for (;;) {
      const response = await this.fetch("v1/requests", [], {
        method: "POST",
        body,
        headers: { "Content-Type": "application/json" },
      });
      if (response.ok) {
        const answers = await response.json();
        for (const [index, { hear }] of batch.entries()) hear(answers[index]);
        return;
      }
      const { retryAfterMs, problem } = await this.refused(response);
      if (response.status === 413) return this.fail(1009, problem.message);
      if (retryAfterMs === undefined) return this.fail(1006, problem.message);
      await pause(retryAfterMs, this.signal);
    }
  }

  // MARK: Activity

  /** There is no `activity` over HTTP: asks for the rooms from time to time. */
  async #watchRooms() {
    if (this.#watchesRooms) return;
    this.#watchesRooms = true;
    for (let isFirst = true; !this.signal.aborted; isFirst = false) {
      const { rooms = [] } = await this.ask({ type: "rooms" });
      for (const { room, head, unread, unread_more, request, last } of rooms) {
        const known = this.#heads.get(room) ?? { head: 0 };
        this.#heads.set(room, { head, request });
        const isNew = head > known.head && !this.places.has(room);
        if (!isFirst && (isNew || (known.request && !request)))
          this.receive({ type: "activity", room, head, unread, unread_more, request, last });
      }
      await pause(activityPauseMs, this.signal);
    }
  }
}

/** Waits, at most until the signal. @param {number} ms @param {AbortSignal} signal */
export function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve(undefined);
      },
      { once: true },
    );
  });
}

/**
 * What a token says; the relay checks it.
 * @param {string} [token]
 * @returns {{sub?: string, exp?: number}}
 */
function claims(token) {
  try {
    const payload = (token ?? "").split(".")[1].replace(/-/g, "+").replace(/_/g, "/");
    return JSON.parse(
      new TextDecoder().decode(Uint8Array.from(atob(payload), (byte) => byte.charCodeAt(0))),
    );
  } catch {
    return {};
  }
}
