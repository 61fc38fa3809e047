// Who uses the page, and the client that this makes.

import { IndexedDBStore } from "./relay-client/indexeddb-store.js";
import { Unauthorized } from "./relay-client/relay-client.js";
import { connectShared } from "./relay-client/shared.js";

const tokenKey = "relay.token";

/** The user that a token names. The relay checks it; here it only names the store. @param {string} token */
export function subject(token) {
  try {
    const [, payload] = token.split(".");
    const bytes = Uint8Array.from(atob(payload.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
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
  /** Asks the person for another token. @type {() => void} */
  onExpired = () => {};

  /** @param {{user?: string, token?: string}} identity */
  constructor({ user, token }) {
    this.token = token;
    this.user = token === undefined ? user ?? "" : subject(token);
  }

  /** The session of this tab: in the address, or kept from before a reload. */
  static restore() {
    const fragment = new URLSearchParams(location.hash.slice(1));
    const token = fragment.get("token") ?? sessionStorage.getItem(tokenKey);
    if (fragment.has("token")) history.replaceState(history.state, "", location.pathname + location.search);
    if (token) {
      sessionStorage.setItem(tokenKey, token);
      return new Session({ token });
    }
    const user = new URLSearchParams(location.search).get("user");
    return user ? new Session({ user: user.toLowerCase() }) : undefined;
  }

  /** Signs this tab in from its next load on. @param {string} token */
  static keep(token) {
    sessionStorage.setItem(tokenKey, token);
  }

  /** Uses another token from now on, unless it is one of another user: that would get what this one wrote. @param {string} token */
  renew(token) {
    if (subject(token) !== this.user) return false;
    this.token = token;
    Session.keep(token);
    for (const go of this.#waiting.splice(0)) go();
    return true;
  }

  end() {
    sessionStorage.removeItem(tokenKey);
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

  /** One connection and one store for all tabs. Over plain HTTP browsers have no locks: each tab is by itself, and the last one has the store. */
  connect() {
    const options = this.token === undefined ? { user: this.user }
      : { getToken: (/** @type {any} */ context) => this.getToken(context) };
    return connectShared("/ws", { ...options, name: this.name, store: new IndexedDBStore(this.name) });
  }

  /** Removes what is stored on this device. */
  async forget() {
    this.end();
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(`relay.list:${this.user}`) || key.startsWith(`relay.draft:${this.user}:`)) localStorage.removeItem(key);
    }
    await IndexedDBStore.delete(this.name);
  }

  /** A request to the relay besides the connection. @param {string} path */
  fetch(path) {
    if (this.token !== undefined) return fetch(path, { headers: { Authorization: `Bearer ${this.token}` } });
    return fetch(`${path}${path.includes("?") ? "&" : "?"}user=${encodeURIComponent(this.user)}`);
  }
}
