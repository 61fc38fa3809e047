// Clients of the tests, which end with them.
import { createRequire } from "node:module";
import { connect } from "../../../Sources/JavaScript/relay-client/relay-client.js";
import { patienceMs } from "./wait.js";

// Node 18 and 20 have no WebSocket of their own.
export const Sockets = createRequire(import.meta.url)("ws");
export const WebSocket = Sockets.WebSocket;

/** A client that fails the test if something fails that no promise tells. */
export function client(t, url, options = {}) {
  const relay = connect(url, { WebSocket, ...options });
  relay.failures = [];
  relay.on("error", (error) => relay.failures.push(error));
  // A test that waits for `ready` in vain ends with an error.
  const late = setTimeout(() => relay.close(), patienceMs);
  relay.ready.catch(() => {}).then(() => clearTimeout(late));
  t.after(() => relay.close());
  return relay;
}
