// The connection that always comes back: back-off, close codes, the ladder of transports, and
// requests that are repeated until they are answered.

import { baseOf } from "./base.js";
import { bytes } from "./check.js";
import { bounded, within } from "./deadline.js";
import { RelayError, tooLarge, Unauthorized } from "./errors.js";
import { Ladder } from "./ladder.js";
import { Session } from "./session.js";
import { overdueMs, usualTiming } from "./timing.js";
import { openWebSocket } from "./websocket.js";

/**
 * @import { ConnectionEvents, Health, OpenTransport, Options, SessionEnd, Timing, TransportName,
 *   Wire } from "./types.js"
 */

/** @type {Record<TransportName, () => Promise<OpenTransport>>} */
const transports = {
  websocket: async () => openWebSocket,
  stream: async () => (await import("./stream.js")).openStream,
  poll: async () => (await import("./poll.js")).openPoll,
};

/**
 * @typedef {{message: Wire, sentOn?: Session, sentAt?: number, resolve(answer: any): void,
 *   reject(error: any): void}} Request `sentAt` while an answer is due, by the clock of `performance`
 */

export class Connection {
  /** @type {Health} */
  health;
  #base;
  #options;
  #events;
  /** @type {Timing} */
  #timing;
  #ladder;
  /** @type {Session | undefined} */
  #session;
  /** @type {Session | undefined} a better transport that is being tried */
  #candidate;
  /** @type {Map<string, Request>} by ref */
  #requests = new Map();
  #count = 0;
  /** When something was overdue last: a round trip that began before tells nothing of now. */
  #overdueAt = -Infinity;
  #failures = 0;
  #frameBytes = 0;
  /** @type {SessionEnd | undefined} how the relay refused a token */
  #rejection;
  /** @type {RelayError | undefined} */
  #ended;
  #wake = () => {};
  #stop = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #climb;

  /**
   * @param {string | URL} url
   * @param {Options} options
   * @param {ConnectionEvents} events
   */
  constructor(url, options, events) {
    this.#base = baseOf(url, globalThis.location?.href);
    const user = options.user ?? this.#base.searchParams.get("user") ?? undefined;
    this.#base.search = "";
    const WebSocket = options.WebSocket ?? globalThis.WebSocket;
    const ladder = options.transports ?? ["websocket", "stream", "poll"];
    this.#options = { ...options, user, WebSocket };
    this.#events = events;
    this.#timing = { ...usualTiming, ...options.timing };
    this.#ladder = new Ladder(
      WebSocket ? ladder : ladder.filter((name) => name !== "websocket"),
      this.#timing,
    );
    this.health = { state: "connecting", transport: this.#ladder.transport, since: Date.now() };
    if (!WebSocket) this.#ladder.why = "Give the option `WebSocket`: there is none.";
  }

  /** What the relay accepts as one message; 0 if that is not known. */
  get frameBytes() {
    return this.#frameBytes;
  }

  get isOnline() {
    return this.#session?.isOnline ?? false;
  }

  /** What a request beside the connection needs. @returns {import("./types.js").Access} */
  get access() {
    const { user, fetch = (...request) => globalThis.fetch(...request) } = this.#options;
    const { signal } = this.#stop;
    return { base: this.#base, user, token: this.#session?.token, fetch, signal };
  }

  start() {
    if (this.#ended) return;
    const look = () => globalThis.document?.hidden || this.look();
    const { signal } = this.#stop;
    globalThis.addEventListener?.("online", look, { signal });
    globalThis.document?.addEventListener("visibilitychange", look, { signal });
    this.#run();
  }

  /**
   * The network or the machine may have changed: tries at once, or checks that the connection
   * works.
   */
  look() {
    this.#wake();
    this.#session?.ping();
  }

  /**
   * Measures the round trip now and then, for a person who looks.
   * @returns {number | undefined} for how long the oldest ping or request has had no answer
   */
  probe() {
    const session = this.#session;
    if (!session?.isOnline) return undefined;
    session.probe(this.#timing.probeMs);
    const now = performance.now();
    const began = [session.unansweredAt, now - this.#events.unansweredMs()];
    for (const { sentOn, sentAt } of this.#requests.values())
      if (sentOn === session) began.push(sentAt);
    const ms = now - Math.min(now, ...began.filter((at) => at !== undefined));
    if (ms >= overdueMs) this.#overdueAt = now;
    return ms > 0 ? ms : undefined;
  }

  /** @param {Session} session @param {number} ms @param {number} beganAt */
  #measured(session, ms, beganAt) {
    const isPast = ms >= overdueMs || beganAt <= this.#overdueAt;
    this.#tell("online", this.#ladder.why, { roundTripMs: isPast ? undefined : ms });
    if (isPast) session.probe(0);
  }

  /**
   * Sends a message if there is a connection, once.
   * @param {Wire} message @param {string} [text] the message, if it is at hand
   */
  post(message, text) {
    if (this.isOnline) this.#session?.post(message, text);
  }

  /**
   * Sends a request, now or once there is a connection, and again until it is answered.
   * @param {Wire} message
   * @param {AbortSignal} [signal]
   * @returns {Promise<Wire>}
   */
  request(message, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (this.#ended) return reject(this.#ended);
      const ref = message.ref ?? String(++this.#count);
      const abort = () => this.#requests.delete(ref) && reject(signal?.reason);
      const settle = (/** @type {(value: any) => void} */ end) => (/** @type {any} */ value) => {
        this.#requests.delete(ref);
        signal?.removeEventListener("abort", abort);
        end(value);
      };
      signal?.addEventListener("abort", abort);
      const request = {
        message: { ...message, ref },
        resolve: settle(resolve),
        reject: settle(reject),
      };
      this.#requests.set(ref, request);
      this.#transmit(request);
    });
  }

  /** @param {RelayError} error why it ends, for good */
  end(error) {
    if (this.#ended) return;
    this.#ended = error;
    this.#stop.abort();
    clearTimeout(this.#climb);
    this.#candidate?.end(1000);
    this.#session?.end(1000);
    this.#wake();
    this.#tell("ended", error.message);
    for (const request of this.#requests.values()) request.reject(error);
    this.#events.ended(error);
  }

  // MARK: Sessions

  async #run() {
    while (!this.#ended) {
      this.#tell("connecting");
      const end = await this.#connect();
      if (this.#ended) return;
      const error = this.#final(end);
      if (error) return this.end(error);
      if (end.code === 1009) this.#refuseLargest();
      if (this.#ladder.fails(end)) this.#ladder.judge(await this.#isReachable(), end.why);
      await this.#pause(end);
    }
  }

  /**
   * One session, or the better one that has taken its place, until it ends.
   * @returns {Promise<SessionEnd>}
   */
  async #connect() {
    try {
      const token = await this.#token();
      if (token !== undefined && token === this.#rejection?.token) return this.#rejection;
      this.#session = await this.#open(this.#ladder.transport, token);
    } catch (error) {
      return { code: 0, why: String(error), isWelcome: false, lifeMs: 0 };
    }
    for (;;) {
      /** @type {Session} */
      const session = this.#session;
      const end = await session.ended;
      if (session === this.#session) return end;
    }
  }

  /** @param {TransportName} name @param {string} [token] */
  async #open(name, token) {
    /** @type {OpenTransport} */
    const open = await within(transports[name](), "The module").catch((error) => () => {
      throw error;
    }); // counts as a short connection
    if (this.#ended) throw this.#ended;
    /** @type {Session} */
    const session = new Session(open, {
      ...this.access,
      token,
      WebSocket: this.#options.WebSocket,
      timing: this.#timing,
      getToken: this.#options.getToken && (() => this.#newerToken()),
      welcome: (session, welcome) => this.#welcome(session, welcome),
      message: (message) => this.#receive(message),
      roundTrip: (ms, beganAt) => this.#measured(session, ms, beganAt),
    });
    return session;
  }

  /** A token; undefined on a relay without tokens. */
  async #token() {
    try {
      return await this.#options.getToken?.({
        signal: this.#stop.signal,
        rejected: this.#rejection?.token,
      });
    } catch (error) {
      if (error instanceof Unauthorized) this.end(error);
      throw new Error(`There is no token now: ${error}`);
    }
  }

  /** A token in time for the session to go on; without one it says why, and is asked again. */
  async #newerToken() {
    try {
      return await this.#token();
    } catch (error) {
      if (!this.#ended) this.#tell("online", String(error));
      return undefined;
    }
  }

  /** @param {Session} session @param {Wire} welcome */
  #welcome(session, welcome) {
    if (this.#ended) return session.end(1000);
    if (session === this.#candidate) {
      const former = this.#session;
      this.#session = session;
      this.#candidate = undefined;
      this.#ladder.climb();
      former?.end(1000);
    }
    this.#frameBytes = welcome.limits.frame_bytes;
    this.#rejection = undefined;
    clearTimeout(this.#climb);
    if (!this.#ladder.isBest) this.#climb = setTimeout(() => this.#tryBest(), this.#timing.climbMs);
    this.#tell("online", this.#ladder.why);
    this.#events.welcome(welcome);
    for (const request of this.#requests.values()) this.#transmit(request);
  }

  /** Tries the first transport beside the one in use. */
  async #tryBest() {
    try {
      const candidate = await this.#open(this.#ladder.best, await this.#token());
      this.#candidate = candidate;
      await candidate.ended;
      if (this.#candidate !== candidate || this.#ended) return; // it is in use, or was
    } catch (error) {
      if (this.#ended) return;
      const { state, retryAt } = this.health;
      this.#tell(state, String(error), { retryAt }); // no token, or no module: later
    }
    this.#climb = setTimeout(() => this.#tryBest(), this.#timing.climbMs);
  }

  /**
   * The error for which it does not come back.
   * @param {SessionEnd} end
   */
  #final(end) {
    const { code, error, why } = end;
    if (code === 1000) return new RelayError("closed", why);
    if (code === 4403) return error ?? new RelayError("forbidden", why);
    if (code !== 4401) return undefined;
    if (!this.#options.getToken || end === this.#rejection) return error ?? new Unauthorized(why);
    this.#rejection = end; // another token may be accepted
  }

  /** Whether the relay answers HTTP: then it is the transport that fails, and not the network. */
  async #isReachable() {
    const fetch = this.#options.fetch ?? globalThis.fetch;
    const url = new URL("healthz", this.#base);
    return bounded(
      (signal) => fetch(url, { mode: "no-cors", signal }),
      "The relay",
      this.#timing.pongMs,
    ).then(
      () => true,
      () => false,
    );
  }

  /** Full jitter: all of the pause is random. @param {SessionEnd} end */
  async #pause({ isWelcome, lifeMs, reconnectAfterMs, why }) {
    const { pauseMs, longestPauseMs } = this.#timing;
    const limit = Math.min(longestPauseMs, pauseMs * 2 ** this.#failures);
    this.#failures = isWelcome && lifeMs >= limit ? 0 : Math.min(this.#failures + 1, 20);
    const ms = reconnectAfterMs ?? Math.random() * limit;
    this.#tell("waiting", why, { retryAt: Date.now() + ms });
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(undefined);
      };
    });
  }

  /** @param {Health["state"]} state @param {string} [why] @param {Partial<Health>} [more] */
  #tell(state, why, more) {
    const { transport } = this.#ladder;
    const { health } = this;
    const since =
      state === health.state && transport === health.transport ? health.since : Date.now();
    const roundTripMs = state === "online" ? health.roundTripMs : undefined;
    this.health = { state, transport, why, since, roundTripMs, ...more };
    this.#events.health(this.health);
  }

  // MARK: Messages

  /** @param {Request} request */
  #transmit(request) {
    if (!this.isOnline || request.sentOn === this.#session) return;
    const text = JSON.stringify(request.message);
    if (this.#frameBytes > 0 && bytes(text) > this.#frameBytes) return request.reject(tooLarge());
    request.sentOn = this.#session;
    request.sentAt = performance.now();
    this.#session?.post(request.message, text);
  }

  /** @param {Wire} message */
  #receive(message) {
    const request = this.#requests.get(message.ref);
    if (!request) return this.#events.message(message);
    if (message.type !== "error") return request.resolve(message);
    if (message.retry_after_ms === undefined) return request.reject(RelayError.from(message));
    request.sentAt = undefined;
    setTimeout(() => {
      if (request.sentOn !== this.#session) return;
      request.sentOn = undefined;
      if (this.#requests.get(message.ref) === request) this.#transmit(request);
    }, message.retry_after_ms);
  }

  /**
   * After a close with 1009: what came back to be sent again would close the next connection too.
   */
  #refuseLargest() {
    const sent = [...this.#requests.values()].filter(({ sentOn }) => sentOn);
    const requests = sent.map(({ message, reject: refuse }) => {
      return { size: bytes(JSON.stringify(message)), refuse };
    });
    const all = [...requests, ...this.#events.sent()];
    const [largest] = all.sort((a, b) => b.size - a.size);
    largest?.refuse(tooLarge());
  }
}
