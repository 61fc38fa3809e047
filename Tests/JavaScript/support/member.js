// member.js URL JOURNAL USER ROOM...: a program that is killed at any time. A line of the input is
// `[room, text]`; a line of the output is `{"said": n}` for one that is stored, the state of the
// connection, or what a room shows.
import { createInterface } from "node:readline";
import { FileStore } from "../../../Sources/JavaScript/relay-client/file-store.js";
import { connect } from "../../../Sources/JavaScript/relay-client/relay-client.js";
import { WebSocket } from "./client.js";

const [url, journal, user, ...names] = process.argv.slice(2);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** Tells what it has accepted: what is said is not typed again after a crash. */
class ToldStore extends FileStore {
  async commit(change) {
    await super.commit(change);
    for (const { text } of change.outbox ?? []) say({ said: text });
  }
}

const store = new ToldStore(journal, { keep: 100_000 });
const relay = connect(url, {
  user,
  store,
  WebSocket,
  timing: { longestPauseMs: 100, pongMs: 500 },
});
const rooms = new Map(names.map((name) => [name, relay.room(name, { after: 0 })]));
relay.on("error", ({ message }) => say({ failed: message }));
relay.on("ended", ({ message }) => say({ failed: message }));
relay.on("health", ({ state, transport, why }) => say({ health: [state, transport, why] }));
for (const [name, room] of rooms) {
  (async () => {
    for await (const { seq, from, text } of room.since(0)) say({ room: name, seq, from, text });
  })();
}

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const [name, text] = JSON.parse(line);
  rooms
    .get(name)
    .send(text)
    .catch((error) => say({ failed: error.message }));
});
lines.on("close", async () => {
  await relay.settled();
  say({ settled: true });
});
