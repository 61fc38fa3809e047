// Notifications and sounds: one for a person, however many tabs there are.

import { line, plain } from "./format.js";
import { report } from "./problems.js";
import { allowed } from "./relay-client/allowed.js";
import { within } from "./relay-client/deadline.js";
import { deviceStorage } from "./relay-client/guarded-storage.js";
import { gist } from "./row.js";
import { mentions } from "./text.js";

/** @import { People } from "./people.js" */
/** @import { Message, RoomRow } from "./relay-client/types.js" */
/** @import { Messenger } from "./types.js" */

const keys = { notifications: "relay.notifications", sounds: "relay.sounds" };

export class Notifier {
  #relay;
  #user;
  #people;
  #muted;
  #isChosen = false;
  /** @type {Map<string, number>} what was unread, by room */
  #unread = new Map();
  #isFirst = true;
  #focusName;
  /** @type {(() => void) | undefined} */
  #endFocus;
  /** @type {AudioContext | undefined} */
  #audio;

  /** @param {Messenger} messenger */
  constructor({ relay, people, user, muted }) {
    this.#muted = muted;
    this.#user = user;
    this.#relay = relay;
    this.#people = people;
    this.#focusName = `relay.focus:${user}`;
    // The tab that has the lock notifies; when it closes, another one gets it. Without locks each
    // tab notifies.
    const choose = () => {
      this.#isChosen = true;
    };
    const locks = allowed(() => navigator.locks);
    if (locks)
      locks
        .request(`relay.notifier:${user}`, () => {
          choose();
          return new Promise(() => {});
        })
        .catch(choose);
    else choose();
    addEventListener("focus", () => this.#holdFocus());
    addEventListener("blur", () => this.#endFocus?.());
    if (document.hasFocus()) this.#holdFocus();
    relay.rooms.on("change", () => this.#compare());
  }

  /** @param {"notifications" | "sounds"} kind */
  isOn(kind) {
    return (
      deviceStorage.get(keys[kind]) === "on" &&
      (kind === "sounds" || globalThis.Notification?.permission === "granted")
    );
  }

  /**
   * @param {"notifications" | "sounds"} kind
   * @returns {Promise<string | undefined>} what is wrong, and what to do
   */
  async toggle(kind) {
    const isOn = !this.isOn(kind);
    const permission =
      isOn && kind === "notifications"
        ? await globalThis.Notification?.requestPermission()
        : "granted";
    if (permission === "denied") {
      return (
        "This browser does not let this site notify you. Open the settings of the site with the" +
        " button beside the address, allow notifications, and choose “Notifications” in the menu" +
        " again."
      );
    }
    if (permission !== "granted")
      return (
        "The browser has asked, and was not answered. Choose “Notifications” in the menu again, and" +
        " allow them."
      );
    deviceStorage.set(keys[kind], isOn ? "on" : "off");
    if (isOn && kind === "sounds") this.#ring();
  }

  /** Another tab sees by this lock that the person looks at this one. */
  #holdFocus() {
    this.#endFocus?.();
    const isOver = new Promise((resolve) => {
      this.#endFocus = () => resolve(undefined);
    });
    allowed(() => navigator.locks)
      ?.request(this.#focusName, { mode: "shared" }, () => isOver)
      .catch(() => this.#endFocus?.());
  }

  #compare() {
    for (const row of this.#relay.rooms.list) {
      const before = this.#unread.get(row.room);
      this.#unread.set(row.room, row.unread);
      const isNew = before === undefined ? !this.#isFirst && row.unread > 0 : row.unread > before;
      if (isNew && row.last && row.last.from !== this.#user)
        this.#notify(row, row.last).catch((error) =>
          report(error, undefined, "The notification failed"),
        );
    }
    this.#isFirst = this.#relay.rooms.list.length === 0;
  }

  /** @param {RoomRow} row @param {Message} last */
  async #notify(row, last) {
    const { peer, room } = row;
    const isDirect = peer !== undefined;
    if (!this.#isChosen || this.#muted?.has(room) || !isUrgent(last, this.#user, isDirect)) return;
    if (row.request || this.#relay.blocks.has(last.from)) return;
    if (await this.#isLookedAt()) return;
    if (this.isOn("sounds")) this.#ring();
    if (!this.isOn("notifications")) return;
    const title = plain(isDirect ? (this.#people.name(peer) ?? peer) : row.title);
    const options = {
      body: notice(last, this.#people, isDirect).slice(0, 200),
      tag: `relay:${room}`,
      data: { room },
      silent: true,
    };
    const registration = await workerRegistration();
    if (registration) await registration.showNotification(title, options);
    else new Notification(title, options);
  }

  /** Whether the person looks at a tab, as far as the browser says. */
  async #isLookedAt() {
    try {
      const { held } = await within(navigator.locks.query(), "The browser");
      return held?.some(({ name }) => name === this.#focusName);
    } catch {
      return document.hasFocus();
    }
  }

  /** Two soft tones. */
  #ring() {
    this.#audio ??= new AudioContext();
    const audio = this.#audio;
    for (const [start, frequency] of [
      [0, 660],
      [0.12, 880],
    ]) {
      const tone = audio.createOscillator();
      const volume = audio.createGain();
      const at = audio.currentTime + start;
      tone.frequency.value = frequency;
      volume.gain.setValueAtTime(0, at);
      volume.gain.linearRampToValueAtTime(0.08, at + 0.01);
      volume.gain.exponentialRampToValueAtTime(0.001, at + 0.25);
      tone.connect(volume).connect(audio.destination);
      tone.start(at);
      tone.stop(at + 0.3);
    }
  }
}

/** The worker's, where there is one. */
async function workerRegistration() {
  try {
    return await within(Promise.resolve(navigator.serviceWorker?.getRegistration()), "The worker");
  } catch {
    return undefined;
  }
}

/**
 * The text of a notification.
 * @param {Message} message
 * @param {People} people
 * @param {boolean} isDirect
 */
const notice = (message, people, isDirect) =>
  isDirect
    ? gist(message)
    : `${plain(people.name(message.from) ?? message.from)}: ${gist(message)}`;

/**
 * Whether a person wants to know of a message at once.
 * @param {Message} message
 * @param {string} user
 * @param {boolean} isDirect
 */
const isUrgent = (message, user, isDirect) => isDirect || mentions(line(message.text ?? ""), user);
