// How long things of a connection take, in milliseconds.

/** @import { Timing } from "./types.js" */

/** What has been without an answer for this long is overdue: the connection may be dead. */
export const overdueMs = 2000;

/** @type {Timing} */
export const usualTiming = {
  welcomeMs: 10_000,
  pongMs: 5000,
  probeMs: 2000,
  goodMs: 5000,
  climbMs: 180_000,
  pauseMs: 200,
  longestPauseMs: 10_000,
};
