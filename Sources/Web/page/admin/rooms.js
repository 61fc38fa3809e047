// The busiest rooms, and what an operator does to any room.

import { el } from "../dom.js";
import { isRoomName, plain } from "../format.js";
import { button, field, listing, table } from "./parts.js";

/** @import { Access } from "./access.js" */

/** @param {HTMLElement} place @param {Access} access @param {AbortSignal} signal */
export async function show(place, access, signal) {
  const list = listing(place, signal, async () => {
    const { rooms } = await access.request("GET", "v1/connections");
    if (rooms.length === 0)
      return [el("p", {}, "No room has had an entry in the last ten seconds.")];
    return [
      table(
        "Rooms with most entries in the last ten seconds",
        ["Room", "Entries per second", "Change"],
        rooms.map(
          (/** @type {{room: string, entries_per_s: number}} */ { room, entries_per_s }) => [
            room,
            `${entries_per_s}`,
            el(
              "div",
              { class: "row-buttons" },
              button("Read-only", room, () => post(room, "moderators")),
              button("Writable", room, () => post(room, "everyone")),
              button("Delete…", room, () => remove(room)),
            ),
          ],
        ),
      ),
    ];
  });

  /** @param {string} room @param {string} who */
  const post = (room, who) =>
    list.act(
      () => named(room, () => access.send(room, { kind: "settings", post: who })),
      who === "everyone"
        ? undefined
        : {
            title: `Make ${plain(room)} read-only?`,
            text: "Only its owners and moderators can write there, until you make it writable.",
            confirm: "Make read-only",
          },
    );

  /** @param {string} room */
  const remove = (room) =>
    list.act(() => named(room, () => access.ask({ type: "delete_room", room })), {
      title: `Delete ${plain(room)}?`,
      text: "All its entries and members are removed. This cannot be undone, and its name is not free afterwards.",
      confirm: "Delete the room",
    });

  place.append(
    el("h3", {}, "Any room"),
    field("Name of the room", {
      "Read-only": (room) => post(room, "moderators"),
      Writable: (room) => post(room, "everyone"),
      "Delete…": remove,
    }),
  );
  await list.update();
}

/**
 * @template T
 * @param {string} room
 * @param {() => Promise<T>} act
 */
async function named(room, act) {
  if (!isRoomName(room)) throw new Error(`${plain(room)} is not the name of a room.`);
  return act();
}
