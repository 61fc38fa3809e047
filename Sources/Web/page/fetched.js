// Requests besides the connection.

import { bounded } from "./relay-client/deadline.js";
import { root } from "./root.js";

/** A picture, or a list. */
const usualMs = 20_000;

/**
 * The answer to a request, with all of its content: in time, or not at all.
 * @param {string | URL} address below that of the relay
 * @param {RequestInit} [init]
 * @param {number} [ms]
 */
export const fetched = (address, init = {}, ms = usualMs) =>
  bounded(
    async (signal) => {
      const response = await fetch(new URL(address, root), { ...init, signal });
      const { ok, status, headers } = response;
      return { ok, status, headers, content: await response.blob() };
    },
    "The relay",
    ms,
  );
