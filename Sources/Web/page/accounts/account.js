// A session of an account: the cookie signs in, and the relay can end it from any device.

import { fetched } from "../fetched.js";
import { Kept } from "../kept.js";
import { opened } from "../opening.js";
import { markTold } from "../problems.js";
import { within } from "../relay-client/deadline.js";
import { deviceStorage, tabStorage } from "../relay-client/guarded-storage.js";
import { IndexedDBStore } from "../relay-client/indexeddb-store.js";
import { accountKey, Session } from "../session.js";
import { Refusal, readMe, request } from "./request.js";
import { styled } from "./style.js";

/** @import { RelayError } from "../relay-client/errors.js" */
/** @import { Messenger } from "../types.js" */
/** @import { Remove } from "../sign-out.js" */
/** @import { Me } from "./request.js" */

const place = /** @type {HTMLElement} */ (document.getElementById("app"));

/**
 * With the style of what it opens.
 * @template Part
 * @param {Promise<Part>} part
 */
const inStyle = async (part) => (await Promise.all([part, styled()]))[0];
const devices = () => inStyle(import("./devices.js"));
const invites = () => inStyle(import("./invites.js"));
const names = () => inStyle(import("./your-name.js"));

export class Account extends Session {
  /** What the relay says of the account; absent before it has. @type {Me | undefined} */
  me;
  #isEnding = false;

  /** @param {string} user @param {Me} [me] */
  constructor(user, me) {
    super({ user });
    // Apart from what was kept of a name that everyone could take.
    this.kept = new Kept(`account/${user}`, deviceStorage);
    this.keptInTab = new Kept(`account/${user}`, tabStorage);
    this.me = me;
    deviceStorage.set(accountKey, user);
  }

  /** @override */
  get name() {
    return `relay:account:${this.user}`;
  }

  /** @override @returns {Record<string, string>} */
  get query() {
    return {};
  }

  /** Another account that this browser is signed in as gets nothing. @override */
  get options() {
    return { account: this.user };
  }

  /** @override */
  connect() {
    const relay = super.connect();
    relay.ready.then(() => this.#learn(), markTold);
    return relay;
  }

  /** The page may have begun without a connection. */
  async #learn() {
    try {
      this.me ??= await readMe();
    } catch (error) {
      console.warn("The relay does not tell about the account:", error);
    }
  }

  /** @override @param {string} path */
  fetch(path) {
    return fetched(path);
  }

  /** @override */
  get isOperator() {
    return this.me?.operator ?? false;
  }

  /** @override @type {Messenger["linkTo"]} */
  linkTo = (near, room, title) => {
    opened(near, invites, ({ showLink }) => showLink(near, room, title));
  };

  /** An address with a token changes nothing. @override @param {string} _token */
  renew(_token) {
    return true;
  }

  /** @override @param {Messenger} messenger */
  menu(messenger) {
    return [
      ...(this.me?.may_invite
        ? [
            {
              label: "Invite people…",
              act: () =>
                opened(
                  place,
                  invites,
                  ({ showInvites }) => showInvites(place, messenger),
                  "Name of the person",
                ),
            },
          ]
        : []),
      {
        label: "Devices…",
        act: () => opened(place, devices, ({ showDevices }) => showDevices(place)),
      },
      {
        label: "Add a device…",
        act: () =>
          opened(
            place,
            devices,
            ({ addDevice }) => addDevice(place, this),
            "Code on the new device",
          ),
      },
      {
        label: "Change your name…",
        act: () =>
          opened(
            place,
            names,
            ({ askForName }) => askForName(place, this, messenger.people),
            "The name that others see",
          ),
      },
    ];
  }

  // MARK: The end

  /**
   * Rejects if the relay cannot be told: then nothing has changed.
   * @override @param {() => Promise<void>} close @param {Remove} remove
   */
  async signOut(close, remove) {
    this.#isEnding = true;
    try {
      await request("DELETE", "v1/sessions/current");
    } catch (error) {
      if (!(error instanceof Refusal && error.status === 401)) {
        this.#isEnding = false;
        throw error;
      }
    }
    this.#leave();
    await super.signOut(close, remove);
  }

  /** @override @param {RelayError} error */
  ended(error) {
    if (!this.#isEnding) this.#end(error);
    return undefined;
  }

  /** @param {RelayError} error */
  async #end(error) {
    this.#isEnding = true;
    this.restart(
      error.code === "other_user"
        ? "Another account is signed in on this browser now." +
            ` What @${this.user} has not sent is kept here for @${this.user}.`
        : error.code === "forbidden"
          ? await this.signedOut(`You cannot use this relay now: ${error.message}`)
          : await this.signedOut(),
    );
  }

  /**
   * The relay has ended the session: what was read goes from the device, and what was written stays
   * until it is sent.
   * @param {string} [reason]
   * @returns {Promise<string>} what to tell
   */
  async signedOut(reason = "This device was signed out.") {
    this.#leave();
    this.kept.end();
    this.kept.remove("list");
    try {
      const store = new IndexedDBStore(this.name);
      const { outbox } = await within(store.open(), "The database");
      await store.close();
      if (outbox.length > 0)
        return `${reason} What you have not sent is kept on it for @${this.user}.`;
      await IndexedDBStore.delete(this.name);
    } catch (error) {
      console.warn("What is stored on this device could not be removed:", error);
    }
    return reason;
  }

  #leave() {
    if (deviceStorage.get(accountKey) === this.user) deviceStorage.remove(accountKey);
  }
}
