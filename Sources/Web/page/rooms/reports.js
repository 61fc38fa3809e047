// Reports: a member tells the moderators of a message, and they look at it.

import { el } from "../dom.js";
import { moment, plain } from "../format.js";
import { show } from "../popups.js";
import { say } from "../problems.js";
import { gist } from "../row.js";
import { button, form, input, label, problem, reasonLimit } from "./fields.js";
import { styled } from "./style.js";

/** @import { Message, Report } from "../relay-client/types.js" */
/** @import { Place } from "../actions.js" */

/** @param {Place} place @param {Message} message */
export function reportMessage({ near, messenger, peer, room }, { from, seq, ...message }) {
  styled(near);
  const readers = peer === undefined ? "the moderators of this room" : "the operators of the relay";
  const reason = input("report-reason", { maxLength: reasonLimit });
  const send = async () => {
    const text = reason.value.trim();
    if (!text) {
      reason.focus();
      throw new Error("Write what is wrong with the message.");
    }
    await room.report(seq, text);
    box.close();
    say(`It was reported to ${readers}.`, near);
  };
  const name = plain(messenger.people.name(from) ?? from);
  const box = show(
    near,
    "Report this message",
    el("p", { dir: "auto" }, `${name}: ${gist(message).slice(0, 300)}`),
    form(problem(), "Report", send, label(reason.id, "Reason", `${readers} read it`), reason),
  );
  reason.focus();
}

/** @param {Place} place */
export async function showReports({ near, messenger: { people }, room, title, show: go }) {
  const status = el("p", { class: "aside", role: "status" }, "Loading…");
  const list = el("ul", { class: "room-members", "aria-label": "Reports" });
  const box = show(near, `Reports of ${plain(title)}`, status, list);

  /** @param {string} user */
  const nameOf = (user) => plain(people.name(user) ?? user);

  /** @param {Report} report */
  function item({ seq, by, reason, at, copy }) {
    const said = copy ? `${nameOf(copy.from)}: ${gist(copy)}` : "The message is not kept any more";
    const leave = async () => {
      box.close();
      (await go(seq))?.focus({ preventScroll: true });
    };
    return el(
      "li",
      {},
      el(
        "div",
        {},
        el("b", { dir: "auto" }, said.slice(0, 300)),
        el("span", { dir: "auto" }, plain(reason)),
        el("small", {}, `${nameOf(by)} · ${moment(at)}`),
      ),
      button("Show", leave),
    );
  }

  try {
    const reports = await room.reports();
    list.replaceChildren(...reports.map(item));
    status.textContent = reports.length === 0 ? "Nothing is reported." : "";
    status.hidden = reports.length > 0;
  } catch (error) {
    status.textContent = plain(/** @type {Error} */ (error).message);
  }
}
