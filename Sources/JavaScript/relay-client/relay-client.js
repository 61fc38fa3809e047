// A client of relay.v1 that loses no message and sends none twice: see docs/javascript.md.
import { Client } from "./client.js";
import { Relay } from "./relay.js";

/** @import { Options } from "./types.js" */

export { RelayError, Unauthorized } from "./errors.js";
export { MemoryStore } from "./memory-store.js";

/**
 * Connects, and comes back for as long as it is not closed.
 * @param {string | URL} url the relay's address, such as `wss://chat.example.org`
 * @param {Options} [options]
 */
export function connect(url, options = {}) {
  return new Relay(new Client(url, options), options);
}
