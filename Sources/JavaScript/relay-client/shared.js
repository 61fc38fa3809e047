// One connection for all tabs of a browser: one tab leads and has the client, the others talk to
// it. When the tab that leads is closed or crashes, another one goes on where it was. A tab that
// gets no lock, or no answer from the one that leads, goes on with a connection of its own.
import { allowed } from "./allowed.js";
import { Client } from "./client.js";
import { Deadline, outsideMs } from "./deadline.js";
import { RelayError, toldBy } from "./errors.js";
import { Relay } from "./relay.js";
import { decoded, encoded } from "./tab-message.js";
/** @import { Event, Health, Line, Link, Options, RoomOptions, Wire } from "./types.js" */

/**
 * Like `connect`, with one connection for all tabs that give the same `name`.
 * @param {string | URL} url
 * @param {Options & {name: string}} options
 */
export function connectShared(url, options) {
  const isPossible = allowed(() => navigator.locks && BroadcastChannel);
  return new Relay(isPossible ? new SharedLink(url, options) : new Client(url, options), options);
}

/** How often a tab looks whether the one that leads is there. */
const lookMs = 10_000;

/** The channel of a tab that goes on alone. */
const nobody = { postMessage() {}, close() {} };

/**
 * @typedef {{tab: string, method: string, args: any[], number?: number}} Call of a tab to the one
 *   that leads
 */
/** @typedef {{call: Call, resolve(value: any): void, reject(error: any): void}} Waiting */

/** @implements {Link} */
class SharedLink {
  /** @type {string | undefined} */
  user;
  /** @type {Health} */
  health = { state: "connecting", transport: "websocket", since: Date.now() };
  #url;
  #options;
  #tab = Math.random().toString(36).slice(2);
  /** @type {Pick<BroadcastChannel, "postMessage" | "close">} */
  #channel = nobody;
  /** The client, if this tab leads. @type {Client | undefined} */
  #client;
  /** Whether this tab has its lock: without it another one would take it for gone. */
  #isKnown = false;
  /** The tab that leads. @type {string | undefined} */
  #leader;
  #stop = new AbortController();
  /** Ends with the client, and where this tab goes on alone. */
  #locks = new AbortController();
  /** Until a lock has to be there, or an answer of the tab that leads. @type {Deadline | undefined} */
  #patience;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #looking;
  #release = () => {};
  /** @type {(event: Event) => void} */
  #tell = () => {};
  /** @type {Wire | undefined} */
  #welcome;
  /** Why the store of the tab that leads has failed. @type {RelayError | undefined} */
  #storeError;
  #calls = 0;

  // What this tab wants: a new leader is told again.
  /** @type {Map<string, RoomOptions>} */
  #rooms = new Map();
  /** @type {Map<string, Line>} */
  #lines = new Map();
  /** @type {Map<number, Waiting>} */
  #waiting = new Map();

  /** Which tabs have opened a room, if this one leads. @type {Map<string, Set<string>>} */
  #openers = new Map();
  /** @type {Set<string>} tabs whose end is noticed */
  #watched = new Set();

  /** @param {string | URL} url @param {Options & {name: string}} options */
  constructor(url, options) {
    this.#url = url;
    this.#options = options;
    try {
      const channel = new BroadcastChannel(this.#lockName());
      channel.onmessage = ({ data }) => this.#hear(data);
      this.#channel = channel;
    } catch (error) {
      this.#locks.abort(error);
    }
  }

  /** @param {string} [tab] */
  #lockName(tab = "") {
    return `relay-client/${this.#options.name}/${tab}`;
  }

  /** @param {(event: Event) => void} tell */
  start(tell) {
    this.#tell = tell;
    // A tab holds its own lock as long as it lives, and the common one while it leads.
    this.#lock(this.#tab, () => {
      this.#isKnown = true;
      this.#expectLeader();
      this.#lock("", () => this.#lead());
      return new Promise((resolve) => this.#locks.signal.addEventListener("abort", resolve));
    });
    this.#expect("The browser gives this tab no lock.");
    this.#looking = setInterval(
      () => this.#leader && !this.#client && this.#expectLeader(),
      lookMs,
    );
    const look = () => document.hidden || this.look();
    document.addEventListener("visibilitychange", look, { signal: this.#stop.signal });
  }

  /** @param {string} tab @param {() => Promise<any> | void} hold */
  #lock(tab, hold) {
    const { signal } = this.#locks;
    navigator.locks.request(this.#lockName(tab), { signal }, hold).catch((error) => {
      // The person allows no storage, so there are no locks.
      if (!this.#stop.signal.aborted) this.#goAlone(error);
    });
  }

  /** Goes on alone unless there is an answer in time. @param {string} why */
  #expect(why) {
    this.#patience?.end();
    this.#patience = new Deadline(outsideMs, () => this.#goAlone(why));
  }

  /** Asks the tab that leads whether it is there, unless it is asked already. */
  #expectLeader() {
    if (this.#leader !== undefined && this.#patience) return;
    this.#expect("The tab that has the connection does not answer.");
    this.#channel.postMessage({ ask: "leader" });
  }

  #heard() {
    this.#patience?.end();
    this.#patience = undefined;
  }

  /** Goes on with a client of its own, as on a browser without locks. @param {unknown} why */
  #goAlone(why) {
    if (this.#client || this.#stop.signal.aborted) return;
    this.#channel.close();
    this.#channel = nobody;
    this.#locks.abort(why);
    const message = `This tab has a connection of its own: ${why}`;
    this.#tell({ type: "failed", error: new RelayError("tabs_failed", message) });
    toldBy("ended", this.#lead());
  }

  // MARK: Link

  /** @param {string} room @param {RoomOptions} options */
  open(room, options) {
    this.#rooms.set(room, options);
    this.#call("open", room, options);
  }

  /** @param {string} room @param {boolean} forget */
  close(room, forget) {
    this.#rooms.delete(room);
    this.#call("close", room, forget);
  }

  /** @param {Line} line @param {string} [replaced] */
  send(line, replaced) {
    this.#lines.set(line.id, line);
    this.#tell({ type: "line", room: line.room, line });
    this.#call("send", line, replaced);
  }

  /** @param {string} room @param {string} id */
  withdraw(room, id) {
    this.#call("withdraw", room, id);
  }

  /** @param {Wire} message */
  post(message) {
    this.#call("post", message);
  }

  /** @param {Wire} message @param {AbortSignal} [signal] @returns {Promise<Wire>} */
  request(message, signal) {
    return this.#ask("request", [message], signal);
  }

  /** @param {string} room @param {{before?: number, limit: number}} range */
  entries(room, range) {
    return this.#ask("entries", [room, range]);
  }

  /** @param {string} path @param {string} [name] */
  fileUrl(path, name) {
    return this.#ask("fileUrl", [path, name]);
  }

  settled() {
    return this.#ask("settled", []);
  }

  look() {
    this.#call("look");
  }

  probe() {
    return this.#ask("probe", []);
  }

  async end() {
    if (this.#stop.signal.aborted) return;
    this.#finish(new RelayError("closed", "The client was closed."));
    await this.#client?.end();
    this.#release();
    this.#channel.close();
  }

  // MARK: A tab

  /** @param {string} method @param {any[]} args */
  #call(method, ...args) {
    this.#send({ tab: this.#tab, method, args });
  }

  /**
   * @param {string} method
   * @param {any[]} args
   * @param {AbortSignal} [signal]
   * @returns {Promise<any>}
   */
  #ask(method, args, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted || this.#stop.signal.aborted)
        return reject((signal?.aborted ? signal : this.#stop.signal).reason);
      const call = { tab: this.#tab, method, args, number: ++this.#calls };
      this.#waiting.set(call.number, { call, resolve, reject });
      signal?.addEventListener("abort", () => {
        this.#waiting.delete(call.number);
        reject(signal.reason);
      });
      this.#send(call);
    });
  }

  /** @param {Call} call */
  #send(call) {
    if (this.#client) return void this.#serve(call);
    if (!this.#leader) return;
    this.#expectLeader();
    this.#channel.postMessage({ call });
  }

  /** @param {any} message of another tab */
  #hear({ call, event, answer, ask, leader, welcome, health, store }) {
    if (this.#isKnown && (event || leader || answer)) this.#heard();
    if (call && this.#client) this.#serve(call);
    else if (ask && this.#client) this.#introduce();
    else if (event && !this.#client) this.#take(decoded(event));
    else if (answer?.tab === this.#tab) this.#answer(decoded(answer));
    else if (leader && leader !== this.#leader && this.#isKnown && !this.#client) {
      const isFirst = this.#leader === undefined;
      this.#leader = leader;
      if (welcome) this.#take(welcome);
      this.#take({ type: "health", health });
      if (store) this.#take(decoded(store)); // a tab of an older page does not tell
      if (isFirst) this.#sendLeft();
      this.#resume();
    }
  }

  /** Sends what a tab has left that ended before it knew the one that leads. */
  #sendLeft() {
    for (const { line, replaced } of this.#options.store?.backup?.all() ?? [])
      if (!this.#lines.has(line.id)) this.#call("send", line, replaced);
  }

  /** Tells a new leader what this tab wants. */
  #resume() {
    for (const [room, options] of this.#rooms) this.#call("open", room, options);
    for (const line of this.#lines.values()) this.#call("send", line);
    for (const { call } of this.#waiting.values()) this.#send(call);
  }

  /** @param {Event} event */
  #take(event) {
    if (event.type === "health") this.health = event.health;
    if (event.type === "store" || event.error?.code === "store_failed")
      this.#storeError = event.error;
    if (event.type === "settled") for (const { id } of event.outcomes) this.#lines.delete(id);
    if (event.type === "refused" || event.type === "left") this.#rooms.delete(event.room);
    if (event.type === "welcome") {
      this.#welcome = event;
      this.user = event.user;
    }
    if (event.type === "ended") this.#finish(event.error);
    else this.#tell(event);
  }

  /** @param {{number: number, result?: any, error?: RelayError}} answer */
  #answer({ number, result, error }) {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (error) waiting?.reject(error);
    else waiting?.resolve(result);
  }

  /** @param {RelayError} error */
  #finish(error) {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort(error);
    this.#locks.abort(error);
    clearInterval(this.#looking);
    this.#heard();
    this.health = { ...this.health, state: "ended", why: error.message, since: Date.now() };
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#tell({ type: "health", health: this.health });
    this.#tell({ type: "ended", error });
  }

  // MARK: The tab that leads

  /** Leads until the end. */
  async #lead() {
    if (this.#stop.signal.aborted) return;
    const client = new Client(this.#url, this.#options);
    this.#client = client;
    this.#leader = this.#tab;
    this.#heard();
    this.#take({ type: "store" }); // it has a store of its own
    client.start((event) => {
      if (this.#stop.signal.aborted) return;
      if (event.type !== "ended" || event.error.code !== "closed")
        this.#channel.postMessage({ event: encoded(event) });
      this.#take(event);
    });
    this.#introduce();
    this.#resume();
    await new Promise((resolve) => {
      this.#release = () => resolve(undefined);
    });
  }

  #introduce() {
    const store = encoded({ type: "store", error: this.#storeError });
    const { health } = this;
    this.#channel.postMessage({ leader: this.#tab, welcome: this.#welcome, health, store });
  }

  /** @param {Call} call */
  async #serve({ tab, method, args, number }) {
    const client = /** @type {Client} */ (this.#client);
    if (method === "open") this.#watch(tab, args[0]);
    // Other tabs have it open.
    if (method === "close" && !this.#unwatch(tab, args[0]) && !args[1]) return;
    /** @type {any} */
    const answer = { tab, number };
    try {
      answer.result = await /** @type {any} */ (client)[method](...args);
    } catch (error) {
      answer.error = error;
    }
    if (number === undefined) return;
    if (tab === this.#tab) this.#answer(answer);
    else this.#channel.postMessage({ answer: encoded(answer) });
  }

  /**
   * Notices when a tab has gone, with or without a word.
   * @param {string} tab
   * @param {string} room
   */
  #watch(tab, room) {
    this.#openers.set(room, (this.#openers.get(room) ?? new Set()).add(tab));
    if (tab === this.#tab || this.#watched.has(tab)) return;
    this.#watched.add(tab);
    const gone = () => {
      for (const name of this.#openers.keys())
        if (this.#unwatch(tab, name)) this.#client?.close(name, false);
      this.#watched.delete(tab);
    };
    this.#lock(tab, gone);
  }

  /**
   * @param {string} tab
   * @param {string} room
   * @returns {boolean} whether no tab has it open any more
   */
  #unwatch(tab, room) {
    const openers = this.#openers.get(room);
    if (!openers?.delete(tab) || openers.size > 0) return false;
    return this.#openers.delete(room);
  }
}
