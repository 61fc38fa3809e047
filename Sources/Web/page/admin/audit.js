// What operators have done.

import { el } from "../dom.js";
import { moment } from "../format.js";
import { listing, table } from "./parts.js";

/** @import { Access } from "./access.js" */

const pageLength = 100;

/**
 * @typedef {{seq: number, at: number, data?: {by: string, verb: string, user?: string, room?: string,
 *   session?: string, until?: number}}} Entry
 */

/** @param {HTMLElement} place @param {Access} access @param {AbortSignal} signal */
export async function show(place, access, signal) {
  /** @type {number | undefined} the first of the entries before the page */
  let before;
  const list = listing(place, signal, async () => {
    const { entries, more } = await page(access, before);
    if (entries.length === 0) return [el("p", {}, "Nothing is recorded.")];
    return [
      table(
        "What operators have done, the latest first",
        ["When", "By", "Did", "To the user", "In the room", "Session", "Until"],
        entries.map(({ at, data }) => [
          moment(at),
          data?.by ?? "",
          data?.verb ?? "",
          data?.user ?? "",
          data?.room ?? "",
          data?.session ?? "",
          data?.until === undefined ? "" : moment(data.until),
        ]),
      ),
      el(
        "div",
        { class: "actions" },
        before === undefined ? "" : turn("Newest", undefined),
        more ? turn("Older", entries.at(-1)?.seq) : "",
      ),
    ];
  });

  /** @param {string} label @param {number | undefined} to */
  const turn = (label, to) =>
    el(
      "button",
      {
        type: "button",
        class: "plain",
        on: {
          click: () => {
            before = to;
            list.act(async () => {});
          },
        },
      },
      label,
    );

  await list.update();
}

/**
 * A page, the latest entry first. The room begins with the first act.
 * @param {Access} access
 * @param {number} [before]
 * @returns {Promise<{entries: Entry[], more: boolean}>}
 */
async function page(access, before) {
  const request = { type: "history", room: "sys:audit", limit: pageLength };
  const { entries, more } = await access.ask(
    before === undefined ? request : { ...request, before },
  );
  return { entries: entries.reverse(), more };
}
