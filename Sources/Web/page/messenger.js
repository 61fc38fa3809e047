// The messenger: who uses it, which conversation is open, and what is where.

import { Announcer } from "./announcer.js";
import { Pictures } from "./avatars.js";
import { Conditions } from "./conditions.js";
import { el, focused, keys } from "./dom.js";
import { receiveFiles } from "./files.js";
import { directRoom, plain } from "./format.js";
import { ConversationList } from "./list.js";
import { Muted } from "./muted.js";
import { directRoomNamed, roomNamed } from "./names.js";
import { opened, styled } from "./opening.js";
import { People } from "./people.js";
import { load, markTold, report, say } from "./problems.js";
import { allowed } from "./relay-client/allowed.js";
import { RoomView } from "./room-view.js";
import { root } from "./root.js";

/** @import { Row } from "./conversations.js" */
/** @import { Notifier } from "./notifier.js" */
/** @import { RelayError } from "./relay-client/errors.js" */
/** @import { Relay } from "./relay-client/relay.js" */
/** @import { Open } from "./types.js" */
/** @import { Session } from "./session.js" */

// What is not needed at once comes later.
const mainMenu = () => import("./main-menu.js");
const dialogs = () => import("./dialogs.js");
const searching = () => import("./search-all.js");
const tokens = () => import("./tokens.js");
export const misnamed = () => import("./misnamed.js");

const advice = "Choose a conversation, or press Ctrl+K.";

export const worker = () => allowed(() => navigator.serviceWorker);
export const place = /** @type {HTMLElement} */ (document.getElementById("app"));

export class Messenger {
  announcer = new Announcer();
  conditions = new Conditions();
  list = new ConversationList();
  view = new RoomView();
  #advice = el("p", { role: "status" }, advice);
  nothing = el("div", { class: "nothing-open" }, this.#advice);
  write = (/** @type {string} */ user) =>
    this.open(
      { room: directRoom(this.user, user), title: this.people.name(user) ?? user },
      { isOpened: true },
    );
  forward = (/** @type {import("./types.js").Origin} */ origin) => this.#forward(origin);
  enter = (/** @type {string} */ room) => this.open({ room, title: room }, { isOpened: true });
  searchAll = (/** @type {string} */ query) => this.#searchAll(query);
  help = () => this.#help();
  goTo = () => this.#switch();
  /** @type {Notifier | undefined} */
  notifier;
  /** @type {Open | undefined} */
  #open;
  /** The address names no conversation, and that was said. */
  #isMisnamed = false;

  /** @param {Session} session @param {Relay} relay @param {(reason: string) => void} signIn again */
  constructor(session, relay, signIn) {
    this.session = session;
    this.signIn = signIn;
    this.relay = relay;
    this.people = new People(this.relay);
    this.kept = session.kept;
    this.keptInTab = session.keptInTab;
    this.muted = new Muted(session.kept, "muted");
    this.ignored = new Muted(session.kept, "ignored");
    this.linkTo = session.linkTo;
    this.pictures = new Pictures((user) => session.fetch(`v1/avatars/${encodeURIComponent(user)}`));
  }

  get user() {
    return this.session.user;
  }
  get isOperator() {
    return this.session.isOperator;
  }

  async start() {
    const { list, view, relay, session } = this;
    place.className = "messenger";
    place.replaceChildren(
      this.conditions.element,
      el("nav", { class: "sidebar", "aria-label": "Conversations" }, list),
      el("main", { class: "main" }, view, this.nothing),
      this.announcer.element,
    );
    view.hidden = true;
    list.start(this);
    list.addEventListener("choose", (event) => {
      const { detail } = /** @type {CustomEvent<{row: Row, isOpened: boolean}>} */ (event);
      this.open(detail.row, detail);
    });
    list.addEventListener("menu", (event) => {
      const { detail } = /** @type {CustomEvent<{anchor: HTMLElement}>} */ (event);
      this.#showMenu(detail.anchor);
    });
    list.addEventListener("search", (event) => {
      const { detail } = /** @type {CustomEvent<{query: string}>} */ (event);
      this.#searchAll(detail.query);
    });
    list.addEventListener("count", () => this.#showCount());
    view.addEventListener("back", () => this.#back());
    view.addEventListener("leave-room", (event) =>
      this.#leave(/** @type {CustomEvent<string>} */ (event).detail),
    );
    this.people.addEventListener("change", () => this.#renameOpen());
    relay.rooms.on("change", () => this.#renameOpen());
    receiveFiles(window, (files) =>
      this.#open ? view.attach(files) : say("Open a conversation first: the files are sent there."),
    );
    session.onExpired = async () => {
      await styled(place);
      (await load(tokens)).askForToken(place, session);
    };
    relay.on("ended", (error) => this.#ended(error));
    relay.on("error", (error) => this.#failed(error));
    relay.on("store", (error) => this.#noteStore(error));
    this.#noteStore(relay.storeError);
    addEventListener("beforeunload", (event) => {
      if (relay.storeError && relay.unsettled > 0) event.preventDefault();
    });
    addEventListener(
      "keydown",
      keys((event) => this.#key(event)),
    );
    addEventListener("popstate", () => this.#openFromAddress());
    addEventListener("hashchange", () => this.#takeToken());
    document.addEventListener("visibilitychange", () => {
      relay.presence.set(document.visibilityState === "visible" ? "online" : "away");
    });
    worker()?.addEventListener("message", ({ data }) => {
      if (data?.open) this.open({ room: data.open, title: data.open });
    });
    relay.ready.then(() => this.#ready(), markTold).catch(report);
    this.#openFromAddress();
    if (!this.#open) list.focusSearch();
  }

  /** The relay has said who this is. */
  async #ready() {
    this.list.ready();
    if (!this.#open && !this.#isMisnamed) this.#openFromAddress();
    const { Notifier } = await load(() => import("./notifier.js"));
    this.notifier = new Notifier(this);
    await styled(place); // soon a menu is opened
  }

  /** @param {{room: string, title: string}} row @param {{isOpened?: boolean, isSilent?: boolean}} [options] */
  open(row, { isOpened = false, isSilent = false } = {}) {
    const known = this.list.conversations.row(row.room) ?? row;
    const peer = this.#peer(known.room);
    if (this.view.room !== known.room || this.view.refusal) {
      this.#open = { room: known.room, title: known.title, peer };
      this.view.hidden = false;
      this.nothing.hidden = true;
      this.view.open(this, this.#open);
      this.list.select(known.room);
    }
    place.classList.add("in-conversation");
    if (!isSilent) this.#setAddress(known.room, peer);
    this.#showCount();
    if (isOpened || !isSilent) this.view.focus();
  }

  /** @param {string} room */
  #peer(room) {
    if (!room.startsWith("dm:")) return undefined;
    const users = room.slice(3).split(":");
    return users.find((user) => user !== this.session.user) ?? users[0];
  }

  // MARK: The address

  /** @param {string} room @param {string | undefined} peer */
  #setAddress(room, peer) {
    const query = new URLSearchParams(this.session.query);
    query.set(peer === undefined ? "room" : "to", peer ?? room);
    const address = `${root.pathname}?${query}`;
    if (address !== location.pathname + location.search) history.pushState({ room }, "", address);
  }

  #openFromAddress() {
    const query = new URLSearchParams(location.search);
    const to = query.get("to");
    const name = query.get("room");
    const { user: me } = this.session;
    if (to && !me) return; // known when the relay has said it
    const named = to ? directRoomNamed(to, me) : name ? roomNamed(name, me) : undefined;
    this.#isMisnamed = Boolean(to ?? name) && named === undefined;
    this.#advice.textContent = advice;
    if (named) {
      const { room, user } = named;
      return this.open(
        { room, title: user === undefined ? room : (this.people.name(user) ?? user) },
        { isSilent: true, isOpened: true },
      );
    }
    place.classList.remove("in-conversation");
    this.#showCount();
    if (this.#isMisnamed) this.#sayMisnamed(to, name ?? "");
  }

  /** @param {string | null} to @param {string} name */
  async #sayMisnamed(to, name) {
    const { roomProblem, userProblem } = await load(misnamed);
    const problem = to ? userProblem(to, this.user) : roomProblem(name, this.user);
    if (this.#isMisnamed) this.#advice.textContent = problem;
    say(problem);
  }

  #back() {
    place.classList.remove("in-conversation");
    const query = new URLSearchParams(this.session.query);
    history.pushState({}, "", `${root.pathname}?${query}`);
    this.#showCount();
    this.list.focus();
  }

  /** The name may come after the conversation was opened. */
  #renameOpen() {
    const known = this.#open && this.list.conversations.row(this.#open.room);
    if (this.#open && known && known.title !== this.#open.title) {
      this.#open.title = known.title;
      this.view.rename(known.title);
      this.#showCount();
    }
  }

  #showCount() {
    const count = this.list.conversations.unread;
    const title =
      this.#open && place.classList.contains("in-conversation")
        ? `${plain(this.#open.title)} · relay`
        : "relay";
    document.title = count > 0 ? `(${count > 99 ? "99+" : count}) ${title}` : title;
  }

  // MARK: The keyboard

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.key === "F6") this.#nextRegion(event.shiftKey ? -1 : 1);
    else if (isCommand && !event.shiftKey && event.key.toLowerCase() === "k") this.#switch();
    else if (isCommand && event.shiftKey && event.key.toLowerCase() === "f") this.#searchAll();
    else if (isCommand && !event.shiftKey && event.key.toLowerCase() === "f" && this.#open)
      this.view.openSearch();
    else if (isCommand && event.key === "End" && this.#open) this.view.timeline.toNewest();
    else if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      const row = this.list.neighbor(event.key === "ArrowUp" ? -1 : 1, event.shiftKey);
      if (row) this.open(row);
    } else if (event.key === "F1" || (event.key === "?" && !isTyping())) this.#help();
    else if (event.key === "Escape" && this.#open) this.view.focus();
    else if (
      event.key.length === 1 &&
      !isCommand &&
      !event.altKey &&
      !isTyping() &&
      event.key !== " " &&
      this.#open
    ) {
      this.view.focus(); // the letter goes there
      return;
    } else return;
    event.preventDefault();
  }

  /** @param {number} step */
  #nextRegion(step) {
    const regions = [
      { has: () => this.list.contains(focused()), enter: () => this.list.focus() },
      ...(this.#open
        ? [
            {
              has: () => this.view.timeline.contains(focused()),
              enter: () => this.view.timeline.enter(),
            },
            { has: () => this.view.composer.contains(focused()), enter: () => this.view.focus() },
          ]
        : []),
    ];
    const now = regions.findIndex((region) => region.has());
    const next = now < 0 ? 0 : (now + step + regions.length) % regions.length;
    regions[next].enter();
  }

  #switch() {
    return opened(place, dialogs, ({ goTo }) => goTo(place, this), "Go to a person or room");
  }

  /** @param {import("./types.js").Origin} origin */
  #forward(origin) {
    const label = "Forward to a person or room";
    return opened(place, dialogs, ({ forward }) => forward(place, this, origin), label);
  }

  async #searchAll(query = "") {
    await opened(
      place,
      searching,
      ({ searchAll }) => searchAll(place, this, query),
      "Search all conversations",
    );
  }

  // MARK: The menu

  /** @param {HTMLElement} anchor */
  async #showMenu(anchor) {
    await opened(place, mainMenu, ({ showMainMenu }) => showMainMenu(place, this, anchor));
  }

  async #help() {
    await opened(place, dialogs, ({ showKeys }) => showKeys(place));
  }

  /** @param {string} name */
  #leave(name) {
    this.relay.room(name).close({ forget: true });
    this.view.close();
    this.view.hidden = true;
    this.nothing.hidden = false;
    this.#open = undefined;
    this.list.conversations.forget(name);
    this.list.select(undefined);
    this.#back();
  }

  /**
   * What a room refuses, the room says; that the store has failed is a condition.
   * @param {RelayError} error
   */
  #failed(error) {
    if (error.code === "store_failed" || error === this.view.refusal) return;
    say(plain(error.message));
  }

  /** @param {RelayError | undefined} error why the store has failed */
  #noteStore(error) {
    this.conditions.set(
      "store",
      error &&
        "Messages are not kept on this device: what is not sent yet is lost when this page is closed." +
          " Allow this site to store data, or close its other tabs, and reload the page." +
          ` (${plain(error.message)})`,
    );
  }

  // MARK: The session

  async #takeToken() {
    const token = new URLSearchParams(location.hash.slice(1)).get("token");
    if (!token) return;
    history.replaceState(history.state, "", location.pathname + location.search);
    if (this.session.renew(token)) return place.dispatchEvent(new Event("renewed"));
    await styled(place);
    const { switchTo } = await load(tokens);
    await switchTo(place, this.user, token);
  }

  /** @param {RelayError} error */
  #ended(error) {
    markTold(error);
    if (error.code === "closed") return;
    this.view.close();
    const reason = this.session.ended(error);
    if (reason !== undefined) this.signIn(reason);
  }
}

/** Whether keys are text now. */
function isTyping() {
  return focused()?.matches("input, textarea, select") ?? false;
}
