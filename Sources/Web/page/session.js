// Who uses the page, and the client that this makes.

import { fetched } from "./fetched.js";
import { Kept } from "./kept.js";
import { userNamed } from "./names.js";
import { allowed } from "./relay-client/allowed.js";
import { Deadline, outsideMs } from "./relay-client/deadline.js";
import { deviceStorage, tabStorage } from "./relay-client/guarded-storage.js";
import { IndexedDBStore } from "./relay-client/indexeddb-store.js";
import { Unauthorized } from "./relay-client/relay-client.js";
import { connectShared } from "./relay-client/shared.js";
import { root } from "./root.js";

/** @import { RelayError } from "./relay-client/errors.js" */
/** @import { Options } from "./relay-client/types.js" */
/** @import { Messenger } from "./types.js" */
/** @import { Remove } from "./sign-out.js" */

const tokenKey = "relay.token";
/** The name that was used last: the sign-in offers it. */
export const nameKey = "relay.name";
/**
 * The user of the account that this browser is signed in with. It is no credential: that is
 * the cookie, which no script can read.
 */
export const accountKey = "relay.account";
/** What the sign-in says first, after this tab was loaded again. */
const reasonKey = "relay.reason";
/** Without locks nothing tells when other tabs have ended: they have so much time. */
const withoutLocksMs = 500;

/**
 * The user that a token names. The relay checks it; here it only names the store.
 * @param {string} token
 */
export function subject(token) {
  try {
    const [, payload] = token.split(".");
    const bytes = Uint8Array.from(atob(payload.replace(/-/g, "+").replace(/_/g, "/")), (letter) =>
      letter.charCodeAt(0),
    );
    return String(JSON.parse(new TextDecoder().decode(bytes)).sub ?? "");
  } catch {
    return "";
  }
}

/** Who has signed in: a name, or a token that may be replaced by a newer one. */
export class Session {
  /** @type {string | undefined} */
  token;
  /** @type {(() => void)[]} */
  #waiting = [];
  /** @type {BroadcastChannel | undefined} */
  #channel;
  #leave = () => {};
  /** Asks the person for another token. @type {() => void} */
  onExpired = () => {};

  /** @param {{user?: string, token?: string}} identity */
  constructor({ user, token }) {
    this.token = token;
    this.user = token === undefined ? (user ?? "") : subject(token);
    this.kept = new Kept(this.user, deviceStorage);
    this.keptInTab = new Kept(this.user, tabStorage);
  }

  /**
   * The session of this tab: in the address, or kept from before a reload; or why there is none.
   * @returns {{session?: Session, reason?: string, misnamed?: string}} `misnamed` is no user's name
   */
  static restore() {
    const reason = tabStorage.get(reasonKey);
    tabStorage.remove(reasonKey);
    if (deviceStorage.get(accountKey) !== undefined) return { reason };
    const fragment = new URLSearchParams(location.hash.slice(1));
    const token = fragment.get("token") ?? tabStorage.get(tokenKey);
    if (fragment.has("token"))
      history.replaceState(history.state, "", location.pathname + location.search);
    // The token of an account's session has no dot: the page has a cookie in its place.
    if (token?.includes(".")) {
      Session.keep(token);
      return { session: new Session({ token }) };
    }
    const name = new URLSearchParams(location.search).get("user");
    if (!name) return { reason };
    const user = userNamed(name);
    return user === undefined ? { misnamed: name } : { session: new Session({ user }) };
  }

  /** Signs this tab in from its next load on. @param {string} token */
  static keep(token) {
    tabStorage.set(tokenKey, token);
  }

  /**
   * Uses another token from now on, unless it is one of another user: that would get what this one
   * wrote.
   * @param {string} token
   */
  renew(token) {
    if (subject(token) !== this.user) return false;
    this.token = token;
    Session.keep(token);
    for (const go of this.#waiting.splice(0)) go();
    return true;
  }

  /**
   * Ends, since the client has.
   * @param {RelayError} error
   * @returns {string | undefined} why, for the sign-in that follows, or nothing if none follows
   */
  ended(error) {
    this.end();
    return error.message;
  }

  end() {
    tabStorage.remove(tokenKey);
    this.#channel?.close();
    this.#leave();
  }

  /** @param {{signal?: AbortSignal, rejected?: string}} context */
  async getToken({ signal, rejected }) {
    while (this.token === rejected) {
      this.onExpired();
      await new Promise((resolve, reject) => {
        this.#waiting.push(() => resolve(undefined));
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    }
    if (this.token === undefined) throw new Unauthorized();
    return this.token;
  }

  /** What is stored on this device is under this name. */
  get name() {
    return `relay:${this.token === undefined ? "" : "token:"}${this.user}`;
  }

  /** What an address of the page says of the user. @returns {Record<string, string>} */
  get query() {
    return this.token === undefined ? { user: this.user } : {};
  }

  /**
   * What the menu of the messenger has besides.
   * @param {Messenger} _messenger
   * @returns {{label: string, act: () => void}[]}
   */
  menu(_messenger) {
    return [];
  }

  /** Whether one is known to be an operator of the relay. */
  get isOperator() {
    return false;
  }

  /** Makes a link that invites into a room, where there are such. @type {Messenger["linkTo"]} */
  linkTo;

  /** How the client signs in. @returns {Options} */
  get options() {
    return this.token === undefined ? { user: this.user } : { getToken: this.getToken.bind(this) };
  }

  /**
   * One connection and one store for all tabs. Over plain HTTP browsers have no locks: each tab is
   * by itself, and the last one has the store.
   */
  connect() {
    return connectShared(root, {
      ...this.options,
      name: this.name,
      store: new IndexedDBStore(this.name),
    });
  }

  // MARK: Signing out

  /** All tabs of a user hold this lock together: whoever signs out waits until it is free. */
  get #lockName() {
    return `relay.session:${this.user}`;
  }

  /**
   * Begins: this tab has the session, unless another one is signing out.
   * @param {() => Promise<void>} close ends what writes, when another tab signs out
   */
  async enter(close) {
    try {
      this.#channel = new BroadcastChannel(this.#lockName);
      this.#channel.onmessage = () => this.#endedElsewhere(close);
    } catch (error) {
      console.warn("Other tabs cannot tell this one to sign out.", error);
    }
    const left = new Promise((resolve) => {
      this.#leave = () => resolve(undefined);
    });
    await this.#locked("shared", () => left);
  }

  /** @param {() => Promise<void>} close */
  async #endedElsewhere(close) {
    this.#stopKeeping();
    try {
      await close();
    } finally {
      this.#goTo("You have signed out in another tab.");
    }
  }

  /**
   * Ends all tabs of the user, then removes all that is kept of the user.
   * @param {() => Promise<void>} close ends what writes in this tab
   * @param {Remove} remove
   */
  async signOut(close, remove) {
    this.#channel?.postMessage("sign out");
    this.#stopKeeping();
    const locked = (/** @type {() => Promise<unknown>} */ hold) => this.#locked("exclusive", hold);
    this.#goTo(await remove(this, close, () => this.#leave(), locked));
  }

  #stopKeeping() {
    this.kept.end();
    this.keptInTab.end();
  }

  /** @param {string} reason */
  #goTo(reason) {
    this.keptInTab.forget();
    this.restart(reason);
  }

  /** Ends, and loads the page again: nothing of the user stays in memory. @param {string} reason */
  restart(reason) {
    this.end();
    if (reason) tabStorage.set(reasonKey, reason);
    location.replace(root);
  }

  /**
   * Waits for the lock of the session, but not for long.
   * @param {"shared" | "exclusive"} mode
   * @param {() => Promise<unknown>} hold
   */
  #locked(mode, hold) {
    const locks = allowed(() => navigator.locks);
    return new Promise((/** @type {(_: void) => void} */ resolve) => {
      const deadline = new Deadline(
        locks ? outsideMs : mode === "shared" ? 0 : withoutLocksMs,
        resolve,
      );
      const begin = () => {
        deadline.end();
        resolve();
      };
      locks
        ?.request(this.#lockName, { mode }, () => {
          begin();
          return hold();
        })
        .catch(begin);
    });
  }

  /** A request to the relay besides the connection. @param {string} path */
  fetch(path) {
    const init =
      this.token === undefined ? {} : { headers: { Authorization: `Bearer ${this.token}` } };
    const address =
      this.token === undefined
        ? `${path}${path.includes("?") ? "&" : "?"}user=${encodeURIComponent(this.user)}`
        : path;
    return fetched(address, init);
  }
}
