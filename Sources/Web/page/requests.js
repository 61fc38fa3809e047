// Conversations that strangers have begun: what one accepts comes into the list. Loaded when there are some.

import { avatar } from "./avatars.js";
import { askToBlock } from "./blocking.js";
import { el } from "./dom.js";
import { line, plain } from "./format.js";
import { styled } from "./opening.js";
import { report } from "./problems.js";
import { gist } from "./row.js";

/** @import { Row } from "./conversations.js" */
/** @import { Muted } from "./muted.js" */
/** @import { Relay } from "./relay-client/relay.js" */

export class Requests {
  #list = el("ul", { class: "conversations" });
  element = el(
    "section",
    { class: "requests", "aria-label": "Requests" },
    el("h2", {}, "Requests"),
    this.#list,
  );
  #relay;
  #ignored;
  #open;
  /** What is shown. */
  #signature = "";

  /** @param {Relay} relay @param {Muted | undefined} ignored @param {(row: Row) => void} open */
  constructor(relay, ignored, open) {
    this.#relay = relay;
    this.#ignored = ignored;
    this.#open = open;
  }

  /** @param {Row[]} rows */
  show(rows) {
    this.element.hidden = rows.length === 0;
    const signature = JSON.stringify(rows.map(({ room, title, last }) => [room, title, last]));
    if (signature === this.#signature) return;
    this.#signature = signature;
    this.#list.replaceChildren(...rows.map((row) => this.#item(row)));
  }

  /** @param {Row} row */
  #item(row) {
    const title = plain(row.title);
    const user = row.user ?? "";
    const button = (
      /** @type {string} */ label,
      /** @type {string} */ kind,
      /** @type {() => unknown} */ act,
    ) =>
      el(
        "button",
        { type: "button", class: kind, "aria-label": `${label} ${title}`, on: { click: act } },
        label,
      );
    return el(
      "li",
      {},
      el(
        "button",
        { type: "button", class: "conversation", on: { click: () => this.#open(row) } },
        el("span", { class: "face" }, avatar(user, title)),
        el("span", { class: "title", dir: "auto" }, title),
        el(
          "span",
          { class: "last", dir: "auto" },
          row.last ? line(gist(row.last)).slice(0, 120) : `@${user}`,
        ),
      ),
      el(
        "div",
        { class: "buttons" },
        button("Accept", "primary", () => this.#accept(row)),
        button("Ignore", "plain", () => this.#ignored?.toggle(row.room)),
        button("Block", "plain", () => this.#block(user, title)),
      ),
    );
  }

  /** @param {Row} row */
  async #accept({ room }) {
    try {
      await this.#relay.rooms.accept(room);
    } catch (error) {
      report(error, undefined, "The request was not accepted");
    }
  }

  /** @param {string} user @param {string} name */
  async #block(user, name) {
    await styled(this.element);
    await askToBlock(this.element, this.#relay, user, name);
  }
}
