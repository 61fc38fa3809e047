// How the connection is, in words.

import { rest } from "./format.js";
import { overdueMs } from "./relay-client/timing.js";

/** @import { Health } from "./relay-client/types.js" */

/**
 * What is said of a connection: never anything better than its oldest ping or request without an
 * answer.
 * @param {Health} health
 */
export function healthText({ state, retryAt, transport, roundTripMs, unansweredMs = 0 }) {
  if (state === "connecting") return "Connecting…";
  if (state === "ended") return "Disconnected";
  if (state === "waiting") {
    const left = (retryAt ?? 0) - Date.now();
    return left > 0 ? `Offline, next attempt in ${rest(left)}` : "Offline";
  }
  if (isOverdue({ unansweredMs })) return `No answer, waiting ${Math.floor(unansweredMs / 1000)} s`;
  const delay =
    roundTripMs === undefined
      ? ""
      : ` · ${Math.max(1, Math.round(roundTripMs), Math.round(unansweredMs))} ms`;
  const way = { websocket: "", stream: " · by HTTP stream", poll: " · by polling" }[transport];
  return `Online${delay}${way}`;
}

/** @param {{unansweredMs?: number}} health */
export const isOverdue = ({ unansweredMs = 0 }) => unansweredMs >= overdueMs;
