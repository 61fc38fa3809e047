// How long things of a connection take, in milliseconds.

/** @import { Timing } from "./types.js" */

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
