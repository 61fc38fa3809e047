// The hook for React renders what the room has.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { useRoomOf } from "../../Sources/JavaScript/relay-client/react.js";
import { client } from "./support/client.js";
import { Relay } from "./support/relay.js";
import { wait } from "./support/wait.js";

const require = createRequire(import.meta.url);
const React = require("react");
const { act, create } = require("react-test-renderer");
globalThis.IS_REACT_ACT_ENVIRONMENT = false;

test("a component shows messages, changes and what is pending, and stops with its end", async (t) => {
  const relay = await Relay.start(t);
  const ada = client(t, relay.url, { user: "ada" });
  const useRoom = useRoomOf(React);
  let renders = 0;
  let used;
  const Conversation = () => {
    used = useRoom(ada, "general");
    renders += 1;
    return React.createElement("p", null, used.messages.map(({ text }) => text).join());
  };
  let view;
  act(() => {
    view = create(React.createElement(Conversation));
  });
  const shown = () => view.toJSON().children?.join("");
  await used.send("one");
  await wait(() => shown() === "one" && used.pending.length === 0, "it is shown");
  await relay.post("bo", "general", { text: "two" });
  await wait(() => shown() === "one,two", "it is shown");
  await used.room.edit(1, "1");
  await wait(() => shown() === "1,two", "it is shown");
  act(() => view.unmount());
  const before = renders;
  await used.send("three");
  await wait(() => used.room.latest.length === 3, "it has arrived");
  assert.equal(renders, before);
});
