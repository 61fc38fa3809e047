// Errors: each has a stable `code`, and says whether the same may succeed later.

/** Codes that are not permanent although no `retry_after_ms` stands beside them. */
const retryable = new Set([
  "unavailable",
  "rate_limited",
  "directory_limited",
  "directory_failed",
  "token_expired",
  "disconnected",
]);

/** A failure, of the relay or of the client. */
export class RelayError extends Error {
  #answer;

  /**
   * @param {string} code
   * @param {string} message for a person
   * @param {Record<string, any>} [answer] the relay's `error`, or the problem of an HTTP answer
   */
  constructor(code, message, answer = {}) {
    super(message);
    this.#answer = { ...answer, code, message };
    this.name = "RelayError";
    this.code = code;
    /** @type {number | undefined} */
    this.retryAfterMs = answer.retry_after_ms;
    this.retryable = this.retryAfterMs !== undefined || retryable.has(code);
    this.resetAt = answer.reset_at === undefined ? undefined : new Date(answer.reset_at);
    /** @type {string | undefined} */
    this.field = answer.field;
    /** When what forbids it ends. */
    this.until = answer.until === undefined ? undefined : new Date(answer.until);
    /** @type {number | undefined} */
    this.seq = answer.seq;
    /** @type {string | undefined} */
    this.support = answer.support;
  }

  /** What `from` makes it of again, elsewhere. */
  get answer() {
    return this.#answer;
  }

  /** @param {Record<string, any>} answer an `error` of relay.v1 */
  static from(answer) {
    return new RelayError(answer.code, answer.message ?? answer.code, answer);
  }
}

/**
 * Marks a rejection as handled, because something else tells it too: a program need not listen to
 * the promise. The only place where a rejection may be left alone.
 * @param {string} _where what tells it
 * @param {Promise<any>} promise
 */
export function toldBy(_where, promise) {
  // biome-ignore lint/plugin: something else tells it
  promise.catch(() => {});
}

export const tooLarge = () => new RelayError("too_large", "It is too large for the relay.");

/** Thrown by `getToken` if there is no token and there will be none: the client ends. */
export class Unauthorized extends RelayError {
  /** @param {string} [message] */
  constructor(message = "There is no valid token.") {
    super("unauthorized", message);
  }
}
