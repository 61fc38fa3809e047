// The screens before the messenger: how one signs in, an invitation, a device that is to be allowed.

import { el } from "../dom.js";
import { isUserName, plain } from "../format.js";
import { similarName } from "../misnamed.js";
import { root } from "../root.js";
import { codeForm } from "./code-form.js";
import { NewCode } from "./new-code.js";
import { readMe, request, thisDevice } from "./request.js";
import { nameLimit } from "./words.js";

/** @import { Me, Refusal } from "./request.js" */

/** @typedef {{method: string, title?: string}} Method */

export class SignIn {
  /** The account, once one is signed in. @type {Me | undefined} */
  me;
  #place;
  #why;
  #problem;

  /**
   * @param {HTMLElement} place
   * @param {{me?: Me, why: string, problem?: string}} known `why` one is asked; the `problem` for
   *   which it is not known whether one is signed in
   */
  constructor(place, { me, why, problem }) {
    this.#place = place;
    this.me = me;
    this.#why = why;
    this.#problem = problem;
  }

  /** Signs in by one of the ways of this relay. */
  async choose() {
    if (this.#problem !== undefined) return this.#unreachable(this.#problem);
    if (this.me) return this.#goOn("You are signed in", this.#why);
    /** @type {{mode?: string, methods?: Method[]}} */
    let relay;
    try {
      relay = await request("GET", "v1/sign-in");
    } catch (error) {
      return this.#unreachable(/** @type {Refusal} */ (error).message);
    }
    const { mode, methods = [] } = relay;
    if (mode !== "accounts") return reload(); // it has other ways now
    do await this.#showMethods(methods);
    while (!(await this.#showCode()));
  }

  /** Shows an invitation, and takes it. @param {string} code */
  async join(code) {
    if (this.#problem !== undefined) return this.#unreachable(this.#problem);
    const path = `v1/invites/${encodeURIComponent(code)}`;
    let invitation;
    try {
      invitation = await request("GET", path);
    } catch (error) {
      const { status, message } = /** @type {Refusal} */ (error);
      if (status !== 404) return this.#unreachable(message);
      history.replaceState({}, "", root);
      this.#why =
        "This invitation is not valid: it was used, it has expired, or a part of its link is missing." +
        " Ask for another one.";
      return this.choose();
    }
    if (this.me) {
      const text =
        `You are signed in on this device as ${nameOf(this.me)}. To join with another account, open` +
        " the link in another browser, or sign out first.";
      await this.#goOn(titleOf(invitation), text);
    } else await this.#takeInvitation(path, invitation);
  }

  /** Allows another device, which shows a code. @param {string} code */
  async allowDevice(code) {
    this.#why ||= "Sign in on this device first. Then you can allow the new one.";
    if (!this.me) await this.choose();
    await new Promise((resolve) => {
      const end = () => resolve(undefined);
      const form = codeForm(/** @type {Me} */ (this.me), { code, end, cancel: "Not now" });
      this.#show("Allow a new device", form);
      form.focus();
    });
    history.replaceState({}, "", root);
  }

  // MARK: Screens

  /** @param {string} title @param {...(Node | string | false | undefined)} children */
  #show(title, ...children) {
    document.title = `${title} · relay`;
    const logo = new URL("../icon.svg", import.meta.url).href;
    this.#place.replaceChildren(
      el(
        "main",
        { class: "sign-in-page" },
        el(
          "div",
          { class: "sign-in" },
          el("img", { class: "logo", alt: "", width: 56, height: 56, src: logo }),
          el("h1", { tabIndex: -1, dir: "auto" }, title),
          ...children,
        ),
      ),
    );
  }

  /** A screen that only another attempt leaves. @param {string} problem @returns {Promise<void>} */
  #unreachable(problem) {
    const again = button("Try again", "primary", reload);
    this.#show("Not available now", el("p", { role: "alert" }, plain(problem)), again);
    again.focus();
    return new Promise(() => {});
  }

  /** @param {string} title @param {string} text @returns {Promise<void>} */
  #goOn(title, text) {
    return new Promise((resolve) => {
      const label = `Continue as ${nameOf(/** @type {Me} */ (this.me))}`;
      const go = button(label, "primary", () => {
        history.replaceState({}, "", root);
        resolve();
      });
      this.#show(title, el("p", { role: "alert" }, plain(text)), go);
      go.focus();
    });
  }

  /**
   * Shows the ways to sign in, until another device is chosen: the others leave the page.
   * @param {Method[]} methods @returns {Promise<void>}
   */
  #showMethods(methods) {
    return new Promise((resolve) => {
      const path = location.pathname.slice(root.pathname.length - 1);
      const back = encodeURIComponent(path + location.search);
      const providers = methods.filter(({ method }) => method !== "invite");
      const isPrimary = providers.length === 1;
      /** @type {HTMLElement[]} */
      const ways = providers.map(({ method, title = method }) =>
        el(
          "a",
          {
            class: isPrimary ? "primary way" : "plain way",
            href: new URL(`sign-in/${encodeURIComponent(method)}?return=${back}`, root).href,
          },
          `Continue with ${plain(title)}`,
        ),
      );
      ways.push(button("Sign in with another device", "plain way", () => resolve()));
      this.#show(
        "Sign in",
        el("p", {}, `to ${location.host}`),
        this.#why && el("p", { class: "why", role: "alert" }, plain(this.#why)),
        el("div", { class: "ways" }, ...ways),
        methods.some(({ method }) => method === "invite") &&
          el("p", { class: "aside" }, "Invited? Open the link that you were given."),
      );
      ways[0].focus();
    });
  }

  /** Shows a code until another device has allowed this one. Returns whether it has. */
  async #showCode() {
    const ending = new AbortController();
    const code = new NewCode(ending.signal);
    const back = button("Back", "plain", () => ending.abort());
    this.#show("Sign in with another device", code.element, back);
    back.focus();
    const isAllowed = await code.allowed;
    return isAllowed && this.#learn();
  }

  /** Learns which account is signed in now. */
  async #learn() {
    try {
      this.me = await readMe();
      return true;
    } catch (error) {
      const { status, message } = /** @type {Refusal} */ (error);
      await this.#unreachable(
        status === 401
          ? "This browser does not keep the cookie of this site. Allow it in the settings of the browser, and sign in again."
          : message,
      );
      return false;
    }
  }

  /**
   * Asks for a name, and joins with it.
   * @param {string} path
   * @param {{by?: string, by_name?: string, user?: string, name?: string, rooms?: string[]}} invitation
   * @returns {Promise<void>}
   */
  #takeInvitation(path, invitation) {
    return new Promise((resolve) => {
      const isFixed = invitation.user !== undefined;
      const note = el("p", { class: "problem", role: "alert", id: "join-problem" });
      const name = el("input", {
        type: "text",
        id: "join-name",
        name: "name",
        autocomplete: "name",
        maxLength: nameLimit,
        value: plain(invitation.name ?? ""),
        "aria-describedby": "join-problem",
      });
      const user = el("input", {
        type: "text",
        id: "join-user",
        name: "username",
        autocomplete: "username",
        autocapitalize: "none",
        spellcheck: false,
        maxLength: 65, // with an @
        "aria-describedby": "join-problem",
      });
      const known = el("b", { dir: "auto" });
      const change = button("Change", "link", () => askForUser());
      const hint = el("p", { class: "aside" }, "Others mention you as ", known, " ", change);
      const label = el("label", { htmlFor: "join-user", hidden: true }, "User name");
      user.hidden = true;
      change.hidden = isFixed;
      const userNow = () =>
        invitation.user ??
        (user.hidden ? similarName(name.value) : user.value.trim().replace(/^@/, "").toLowerCase());
      const showUser = () => {
        const now = userNow();
        known.textContent = `@${now}`;
        hint.hidden = !user.hidden || !isUserName(now);
      };
      const askForUser = (problem = "") => {
        if (user.hidden) user.value = userNow();
        note.textContent = problem;
        user.hidden = label.hidden = false;
        showUser();
        user.focus();
        user.select();
      };
      name.addEventListener("input", showUser);
      const join = el("button", { type: "submit", class: "primary" }, "Join");
      const form = el(
        "form",
        {
          class: "fields",
          on: {
            submit: async (event) => {
              event.preventDefault();
              if (join.disabled) return;
              note.textContent = "";
              const written = name.value.trim();
              if (!isFixed && !written) {
                note.textContent = "Write your name.";
                return name.focus();
              }
              if (!isUserName(userNow()))
                return askForUser(
                  "Choose a user name, by which others mention you: 1 to 64 of a–z, 0–9, dot, hyphen and underscore.",
                );
              join.disabled = true;
              try {
                const { rooms = invitation.rooms } = await request("POST", path, {
                  user: userNow(),
                  ...(written ? { name: written } : {}),
                  device: thisDevice(),
                });
                // The code has no place in the history, nor on the screen.
                const [room] = rooms ?? [];
                history.replaceState(
                  {},
                  "",
                  room === undefined ? root : new URL(`?room=${encodeURIComponent(room)}`, root),
                );
                if (await this.#learn()) resolve();
              } catch (error) {
                const { code, status, message } = /** @type {Refusal} */ (error);
                if (code === "name_taken")
                  askForUser(`@${userNow()} is taken. Choose another user name.`);
                else
                  note.textContent =
                    status === 404
                      ? "This invitation was used meanwhile, or has expired."
                      : message;
              } finally {
                join.disabled = false;
              }
            },
          },
        },
        el("label", { htmlFor: "join-name" }, "Your name"),
        name,
        label,
        user,
        hint,
        note,
        join,
      );
      form.noValidate = true;
      showUser();
      this.#show(titleOf(invitation), el("p", { dir: "auto" }, whereTo(invitation)), form);
      name.focus();
    });
  }
}

/** @param {{by?: string, by_name?: string}} invitation */
const titleOf = ({ by, by_name }) => {
  const name = plain(by_name || by || "").trim();
  return name ? `${name} invites you` : "You are invited";
};

/** @param {{rooms?: string[]}} invitation */
function whereTo({ rooms = [] }) {
  const names = rooms.map((room) => `#${plain(room)}`);
  const list = new Intl.ListFormat("en").format(names);
  return names.length === 0
    ? `Join the conversations on ${location.host}.`
    : `Join ${list} on ${location.host}.`;
}

/** @param {Me} me */
const nameOf = ({ name, user }) => plain(name || user);

/** @param {string} label @param {string} kind @param {() => void} act */
const button = (label, kind, act) =>
  el("button", { type: "button", class: kind, on: { click: act } }, label);

/** @returns {Promise<never>} */
function reload() {
  location.reload();
  return new Promise(() => {});
}
