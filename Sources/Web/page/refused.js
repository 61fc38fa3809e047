// Says which own changes of messages were refused. Loaded when one was.

import { plain } from "./format.js";
import { say } from "./problems.js";

/** @import { Room } from "./relay-client/room.js" */

/**
 * Says it once. A refused edit goes back to where it was written, if nothing else is there.
 * @param {Room} room
 * @param {Record<string, string>} refusals what is said, by the kind of the change
 * @param {{near: HTMLElement, until: AbortSignal, isFree: () => boolean,
 *   edit: (seq: number, text: string) => void}} composer
 */
export function tellRefused(room, refusals, { near, until, isFree, edit }) {
  for (const { id, kind, state, target, text, error } of room.pending) {
    if (state !== "refused" || !(kind in refusals)) continue;
    const why = `${refusals[kind]}: ${plain(error?.message ?? "")}`;
    const discard = () => room.discard(id);
    const again = () => {
      if (kind === "edit") edit(target ?? 0, text ?? "");
      discard();
    };
    if (kind === "edit" && !isFree()) {
      say(why, near, { label: "Edit again", close: discard, until, act: again });
    } else {
      again(); // its text is where it was written
      say(why, near);
    }
  }
}
