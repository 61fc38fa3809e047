// What the tests run in a page: each function sees nothing but its arguments.

/** Starts a client in a page: `window.relay` and `window.room`. */
export async function startClient(url, isShared) {
  const { connect } = await import("/relay-client/relay-client.js");
  const { connectShared } = await import("/relay-client/shared.js");
  const { IndexedDBStore } = await import("/relay-client/indexeddb-store.js");
  const options = {
    user: "ada",
    name: "ada",
    store: new IndexedDBStore("ada"),
    timing: { longestPauseMs: 100 },
  };
  window.relay = (isShared ? connectShared : connect)(url, options);
  window.failures = [];
  window.relay.on("error", (error) => window.failures.push(error.code));
  window.room = window.relay.room("general", { after: 0 });
  window.texts = () => window.room.latest.map(({ text }) => text);
}

/** Resolves when the room shows these texts. */
export async function shows(expected) {
  const isShown = () => JSON.stringify(window.texts()) === JSON.stringify(expected);
  for (let n = 0; n < 2000 && !isShown(); n++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  if (!isShown())
    throw new Error(
      `shows ${JSON.stringify(window.texts())}, ${JSON.stringify(window.relay.health)}, ${window.failures}`,
    );
}
