// The search over all conversations. Loaded when it is opened.

import { calendar } from "./calendar.js";
import { el, keys } from "./dom.js";
import { matcher, SearchAll } from "./find.js";
import { brief, line, plain } from "./format.js";
import { show } from "./popups.js";
import { messageOf } from "./problems.js";
import { gist } from "./row.js";

/** @import { Found } from "./find.js" */
/** @import { Conversations, Row } from "./conversations.js" */
/** @import { People } from "./people.js" */
/** @import { Relay } from "./relay-client/relay.js" */
/** @import { RoomView } from "./room-view.js" */

/** More results are not kept: the oldest go. */
const resultsLimit = 500;
/** How much of a message a result shows. */
const shownLength = 160;

/**
 * @param {HTMLElement} place
 * @param {{relay: Relay, user: string, people: People, list: {conversations: Conversations}, view: RoomView,
 *   open: (row: Row) => void}} messenger
 * @param {string} query
 */
export function searchAll(place, messenger, query) {
  const { relay, user, people, list, view } = messenger;
  const isOpen = (/** @type {string} */ room) => room === view.room;
  const open = (/** @type {Row} */ row, /** @type {number} */ seq, /** @type {string} */ words) => {
    messenger.open(row);
    view.show(seq, words);
  };
  const name = (/** @type {string} */ one) => people.name(one);
  /** @type {(Found & {element: HTMLElement, time: HTMLElement})[]} the newest first */
  let results = [];
  let ending = new AbortController();
  const input = el("input", {
    type: "search",
    value: query,
    placeholder: "Search all conversations",
    "aria-label": "Search all conversations",
    autocomplete: "off",
    spellcheck: false,
  });
  const status = el("p", { class: "result", role: "status" });
  const further = el(
    "button",
    { type: "button", class: "plain", hidden: true },
    "Search further back",
  );
  const items = el("div", { class: "choices", role: "list", "aria-label": "Messages" });

  const add = (/** @type {Found[]} */ matches) => {
    const before = results.length;
    for (const { row, message } of matches) {
      const { title } = row;
      const text = line(gist(message));
      const who = message.from === user ? "You" : plain(name(message.from) ?? message.from);
      const moment = el("time", {}, brief(message.at));
      const element = el(
        "div",
        { role: "listitem" },
        el(
          "button",
          {
            type: "button",
            class: "choice found",
            on: {
              click: () => {
                box.close();
                open(row, message.seq, input.value);
              },
            },
          },
          el("span", {}, el("b", { dir: "auto" }, plain(title)), moment),
          el("span", { class: "last", dir: "auto" }, `${who}: ${around(text, input.value)}`),
        ),
      );
      results.push({ row, message, element, time: moment });
    }
    results.sort((a, b) => b.message.at - a.message.at || b.message.seq - a.message.seq);
    for (const { element } of results.splice(resultsLimit)) element.remove();
    if (before === 0) items.replaceChildren(...results.map(({ element }) => element));
    else
      for (const [index, { element }] of results.entries())
        if (items.children[index] !== element)
          items.insertBefore(element, items.children[index] ?? null);
  };

  /** @param {SearchAll} search */
  const run = async (search) => {
    const { signal } = ending;
    const isOnline = relay.health.state === "online";
    further.hidden = true;
    status.textContent = "Searching…";
    try {
      await search.run(add, signal);
    } catch (error) {
      if (!signal.aborted) status.textContent = `The search ended: ${messageOf(error)}`;
      return;
    }
    const count = results.length === 1 ? "1 message" : `${results.length} messages`;
    const where = isOnline ? "" : ", of what is stored on this device";
    const left = search.left === 1 ? "one conversation has" : `${search.left} conversations have`;
    status.textContent = search.isComplete
      ? `${results.length === 0 ? "No message" : count} found${where}.`
      : `${count} found${where} so far; ${left} older messages.`;
    further.hidden = search.isComplete;
    further.onclick = () => run(search);
  };

  const begin = () => {
    ending.abort();
    ending = new AbortController();
    results = [];
    items.replaceChildren();
    further.hidden = true;
    const isMatch = matcher(input.value, name);
    if (!isMatch) {
      status.textContent = "";
      return;
    }
    const rows = list.conversations.all.filter(
      ({ head = 0, last }) => head > 0 || last !== undefined,
    );
    run(new SearchAll(relay, rows, isMatch, isOpen));
  };

  const box = show(
    place,
    "Search all conversations",
    el(
      "form",
      {
        class: "search-all",
        on: {
          submit: (event) => {
            event.preventDefault();
            begin();
          },
        },
      },
      input,
      status,
      items,
      further,
    ),
  );
  input.addEventListener("input", () => {
    ending.abort();
    status.textContent = "Enter searches";
  });
  box.addEventListener(
    "keydown",
    keys((event) => {
      if (event.key === "Escape") {
        event.preventDefault();
        box.close();
      } // and not first the text
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step === undefined) return;
      const buttons = [...items.querySelectorAll("button")];
      const next =
        buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement)) + step;
      event.preventDefault();
      (next < 0 ? input : buttons[Math.min(next, buttons.length - 1)])?.focus();
    }),
  );
  const redraw = () => {
    for (const { message, time } of results) time.textContent = brief(message.at);
  };
  calendar.addEventListener("change", redraw);
  box.addEventListener("close", () => {
    ending.abort();
    calendar.removeEventListener("change", redraw);
  });
  input.focus();
  input.select();
  begin();
}

/** The part of a text that has the first word. @param {string} text @param {string} query */
function around(text, query) {
  const at = text.toLowerCase().indexOf(query.trim().toLowerCase().split(/\s+/)[0]);
  const start = at > shownLength / 2 ? at - shownLength / 3 : 0;
  return `${start > 0 ? "…" : ""}${text.slice(start, start + shownLength)}`;
}
