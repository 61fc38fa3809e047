// What users have reported.

import { el } from "../dom.js";
import { brief, plain } from "../format.js";
import { button, listing, table } from "./parts.js";

/** @import { Access } from "./access.js" */

/**
 * @typedef {{room: string, seq: number, by: string, reason: string, at: number,
 *   copy?: {from?: string, text?: string}}} Report
 */

/** @param {HTMLElement} place @param {Access} access @param {AbortSignal} signal */
export async function show(place, access, signal) {
  const list = listing(place, signal, async () => {
    /** @type {{reports: Report[]}} */
    const { reports } = await access.ask({ type: "reports" });
    if (reports.length === 0) return [el("p", {}, "Nothing is reported.")];
    return [
      table(
        "Reports, the latest first",
        ["When", "Room", "Message", "From", "Text", "Reported by", "Reason", "Change"],
        reports.map((report) => [
          brief(report.at),
          report.room,
          `${report.seq}`,
          report.copy?.from ?? "–",
          report.copy?.text ?? (report.copy ? "no text" : "was deleted"),
          report.by,
          report.reason,
          report.copy
            ? button("Delete…", `${report.room} ${report.seq}`, () => remove(report))
            : "",
        ]),
      ),
    ];
  });

  /** @param {Report} report */
  const remove = ({ room, seq }) =>
    list.act(() => access.send(room, { kind: "delete", target: seq }), {
      title: "Delete this message?",
      text: `Message ${seq} of ${plain(room)} is deleted for all. This cannot be undone.`,
      confirm: "Delete",
    });

  await list.update();
}
