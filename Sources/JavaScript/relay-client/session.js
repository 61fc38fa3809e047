// One connection, from its beginning to its end: authentication, liveness, renewal of the token.
import { Deadline } from "./deadline.js";
import { RelayError } from "./errors.js";

/**
 * @import { OpenTransport, SessionEnd, SessionOptions, Timing, Transport, Wire } from "./types.js"
 */

const longestTimeout = 2 ** 31 - 1;

/** The relay's errors that announce a close. */
const closing = ["token_expired", "unauthorized", "forbidden", "limit_reached"];

export class Session {
  /** @type {Transport | undefined} */
  #transport;
  #options;
  /** @type {Timing} */
  #timing;
  /** The newest. @type {string | undefined} */
  token;
  #startedAt = Date.now();
  #heardAt = Date.now();
  /** Whether nothing was heard since the last ping. */
  #isAsked = false;
  #pings = 0;
  /** When the last ping was sent, by the clock of `performance`. */
  #measuredAt = -Infinity;
  /** The same while it has no answer. @type {number | undefined} */
  unansweredAt;
  #heartbeatMs = 0;
  /** Until the relay has to be heard: its welcome, or an answer to the ping. @type {Deadline} */
  #patience;
  /** @type {ReturnType<typeof setTimeout> | undefined} until the next ping */
  #watchdog;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #renewal;
  /** @type {Wire | undefined} the relay's last `error` that concerns the connection */
  #error;
  /** @type {number | undefined} */
  #reconnectAfterMs;
  #isWelcome = false;
  /** @type {(end: SessionEnd) => void} */
  #resolve = () => {};
  #isOver = false;

  /** @type {Promise<SessionEnd>} */
  ended = new Promise((resolve) => {
    this.#resolve = resolve;
  });

  /**
   * @param {OpenTransport} open
   * @param {SessionOptions} options
   */
  constructor(open, options) {
    this.#options = options;
    this.#timing = options.timing;
    this.token = options.token;
    this.#patience = new Deadline(this.#timing.welcomeMs, () =>
      this.end(1006, "The relay does not answer."),
    );
    try {
      this.#transport = open({
        ...options,
        opened: () => this.token !== undefined && this.post({ type: "auth", token: this.token }),
        receive: (message) => this.#isOver || this.#receive(message),
        closed: (code, why, isFit) => this.end(code, why, isFit),
      });
    } catch (error) {
      // a URL or a class that does not work
      this.end(1006, String(error));
    }
  }

  get isOnline() {
    return this.#isWelcome && !this.#isOver;
  }

  /** @param {Wire} message @param {string} [text] */
  post(message, text = JSON.stringify(message)) {
    this.#transport?.send(message, text);
  }

  /** Asks for a sign of life: soon it is known whether the connection still works. */
  ping() {
    if (!this.isOnline || this.#isAsked) return;
    this.#isAsked = true;
    if (this.unansweredAt === undefined) this.#measure();
    clearTimeout(this.#watchdog);
    this.#patience.end();
    this.#patience = new Deadline(this.#timing.pongMs, () =>
      this.end(1006, "The relay does not answer."),
    );
  }

  /** Measures the round trip, unless that was begun less than `ms` ago. @param {number} ms */
  probe(ms) {
    const isDue = performance.now() - this.#measuredAt >= ms;
    if (this.isOnline && this.unansweredAt === undefined && isDue) this.#measure();
  }

  #measure() {
    this.#measuredAt = this.unansweredAt = performance.now();
    this.#pings += 1;
    this.post({ type: "ping", t: this.#pings });
  }

  /** @param {number} code @param {string} [why] @param {boolean} [isFit] the transport works */
  end(code, why, isFit = this.#isWelcome) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#patience.end();
    clearTimeout(this.#watchdog);
    clearTimeout(this.#renewal);
    this.#transport?.close(1000);
    this.#resolve({
      code,
      why: this.#error?.message ?? (why || `The connection ended (${code}).`),
      error: this.#error && RelayError.from(this.#error),
      isWelcome: this.#isWelcome,
      lifeMs: isFit ? Date.now() - this.#startedAt : 0,
      reconnectAfterMs: this.#reconnectAfterMs,
      token: this.token,
    });
  }

  /** @param {Wire} message */
  #receive(message) {
    this.#heardAt = Date.now();
    if (this.#isAsked) this.#watch(this.#heartbeatMs);
    this.#isAsked = false;
    switch (message.type) {
      case "welcome":
        this.#isWelcome = true;
        this.#heartbeatMs = 1000 * message.heartbeat_s;
        this.#renewBefore(message.expires_in_ms);
        this.#options.welcome(this, message);
        this.ping(); // measures the round trip
        break;
      case "renewed":
        this.#renewBefore(message.expires_in_ms);
        break;
      case "closing":
        this.#reconnectAfterMs = message.reconnect_after_ms;
        break;
      case "pong":
        if (message.ref !== undefined)
          this.#options.message(message); // a program has asked
        else if (message.t === this.#pings) this.#answered();
        break;
      case "error":
        if (!this.#isWelcome || (closing.includes(message.code) && !message.re))
          this.#error = message;
        if (this.#isWelcome) this.#options.message(message);
        break;
      default:
        this.#options.message(message);
    }
  }

  // MARK: Liveness

  #answered() {
    this.unansweredAt = undefined;
    this.#options.roundTrip(performance.now() - this.#measuredAt, this.#measuredAt);
  }

  /** Pings after a silence of a heartbeat. @param {number} ms how long it lasts at least */
  #watch(ms) {
    this.#patience.end();
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => {
      const silenceMs = Math.max(0, Date.now() - this.#heardAt);
      if (silenceMs >= this.#heartbeatMs) this.ping();
      else this.#watch(this.#heartbeatMs - silenceMs);
    }, ms);
  }

  // MARK: The token

  /** @param {number | undefined} expiresInMs */
  #renewBefore(expiresInMs) {
    clearTimeout(this.#renewal);
    if (expiresInMs === undefined || !this.#options.getToken) return;
    const endsAt = Date.now() + expiresInMs;
    this.#renewal = setTimeout(
      () => this.#renew(endsAt),
      Math.min(0.8 * expiresInMs, longestTimeout),
    );
  }

  /** @param {number} endsAt */
  async #renew(endsAt) {
    const token = await this.#options.getToken?.();
    if (this.#isOver) return;
    if (token !== undefined && token !== this.token) {
      this.token = token;
      this.post({ type: "auth", token });
    }
    // If it is not renewed, there is time for a few more attempts.
    const pause = Math.max(1000, 0.2 * (endsAt - Date.now()));
    this.#renewal = setTimeout(() => this.#renew(endsAt), Math.min(pause, longestTimeout));
  }
}
