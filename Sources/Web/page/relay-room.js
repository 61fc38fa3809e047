// <relay-room src="https://chat.example.org" room="general" user="ada">: a conversation in any
// page.
//
// Instead of `user`, set the property `getToken`. Its look follows the CSS variables of style.css.

import { Announcer } from "./announcer.js";
import { Pictures } from "./avatars.js";
import { el } from "./dom.js";
import { fetched } from "./fetched.js";
import { plain } from "./format.js";
import { roomNamed } from "./names.js";
import { People } from "./people.js";
import { load, messageOf } from "./problems.js";
import { baseOf } from "./relay-client/base.js";
import { connect } from "./relay-client/relay-client.js";
import { RoomView } from "./room-view.js";
import { root as own } from "./root.js";

/** @import { Relay } from "./relay-client/relay.js" */
/** @import { GetToken } from "./relay-client/types.js" */

export class RelayRoom extends HTMLElement {
  /** Returns a token, as in relay-client. @type {GetToken | undefined} */
  getToken;
  /** The client, while the element is in a document. @type {Relay | undefined} */
  relay;
  /** @type {RoomView | undefined} */
  #view;
  /** @type {AbortController | undefined} */
  #ending;

  async connectedCallback() {
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    const address = baseOf(this.getAttribute("src") ?? own, document.baseURI);
    const user = this.getAttribute("user") ?? undefined;
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    const announcer = new Announcer();
    const view = new RoomView();
    this.#view = view;
    const style = el("link", {
      rel: "stylesheet",
      href: new URL("style.css", import.meta.url).href,
    });
    root.replaceChildren(style, view, announcer.element);
    const relay = connect(address.href, {
      ...(this.getToken ? { getToken: this.getToken } : { user }),
      signal,
    });
    this.relay = relay;
    const picture = async (/** @type {string} */ name) => {
      const url = new URL(`v1/avatars/${encodeURIComponent(name)}`, address);
      if (!this.getToken) url.searchParams.set("user", user ?? "");
      const token = await this.getToken?.({ signal });
      return fetched(url, token ? { headers: { Authorization: `Bearer ${token}` } } : {});
    };
    const refuse = (/** @type {string} */ why) =>
      view.replaceChildren(el("p", { class: "splash" }, plain(why)));
    try {
      await relay.ready;
    } catch (error) {
      if (!signal.aborted) refuse(`Not connected: ${messageOf(error)}`);
      return;
    }
    const me = relay.user ?? "";
    const name = this.getAttribute("room") ?? "general";
    const room = roomNamed(name, me)?.room;
    if (room === undefined) {
      const { roomProblem } = await load(() => import("./misnamed.js"), view);
      return refuse(roomProblem(name, me));
    }
    const people = new People(relay);
    people.more();
    view.open(
      { relay, user: me, people, pictures: new Pictures(picture), announcer },
      { room, title: this.getAttribute("title") ?? room },
    );
  }

  disconnectedCallback() {
    this.#view?.close();
    this.#ending?.abort();
  }
}
customElements.define("relay-room", RelayRoom);
