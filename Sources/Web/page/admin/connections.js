// Who is connected.

import { el } from "../dom.js";
import { plain } from "../format.js";
import { button, listing, table } from "./parts.js";
import { bytes } from "./plot.js";

/** @import { Access } from "./access.js" */

/**
 * @typedef {{connection?: string, user: string, transport: string, address?: string, rooms: number,
 *   lagging: number, queued_bytes: number, away?: boolean}} Connection
 */

/** @param {HTMLElement} place @param {Access} access @param {AbortSignal} signal */
export async function show(place, access, signal) {
  const list = listing(place, signal, async () => {
    /** @type {{total: number, connections: Connection[]}} */
    const { total, connections } = await access.request("GET", "v1/connections");
    const more =
      connections.length < total ? `; the ${connections.length} with most bytes queued` : "";
    return [
      el("p", {}, `${total} ${total === 1 ? "connection" : "connections"} to this relay${more}.`),
      table(
        "Connections",
        ["User", "By", "Address", "Rooms", "Lagging", "Queued", "Change"],
        connections.map((one) => [
          one.away ? `${one.user} (away)` : one.user,
          one.transport,
          one.address ?? "this machine",
          `${one.rooms}`,
          `${one.lagging}`,
          bytes(one.queued_bytes),
          one.connection === undefined ? "" : button("End…", one.user, () => end(one)),
        ]),
      ),
    ];
  });

  /** @param {Connection} one */
  const end = ({ connection = "", user }) =>
    list.act(() => access.request("DELETE", `v1/connections/${encodeURIComponent(connection)}`), {
      title: `End this connection of ${plain(user)}?`,
      text: "The client comes back when its user signs in again. To keep the user out, disable the account or ban the user.",
      confirm: "End",
    });

  await list.update();
}
