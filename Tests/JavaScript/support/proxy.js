// A TCP proxy that cuts connections, or stops passing bytes on without closing them.
import { connect, createServer } from "node:net";

export class TCPProxy {
  /** How many connections were made. */
  count = 0;
  isSilent = false;
  /** How late it passes bytes on, in each direction. */
  delayMs = 0;
  /** Decides by the first bytes of a connection whether it is passed on. */
  admits = () => true;
  /** The same, whether its bytes get lost, while it stays open. */
  swallows = () => false;
  #pairs = new Set();
  #server;

  static async start(t, relay) {
    const proxy = new TCPProxy();
    proxy.relay = relay;
    proxy.#server = createServer((client) => proxy.#pass(client));
    await new Promise((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    t.after(() => {
      proxy.#server.close();
      proxy.cut();
    });
    return proxy;
  }

  get url() {
    return `ws://127.0.0.1:${this.#server.address().port}`;
  }

  /** Ends all connections, as a broken network does. */
  cut() {
    for (const socket of this.#pairs) socket.destroy();
  }

  #pass(client) {
    this.count += 1;
    const relay = connect(this.relay.port, this.relay.host);
    let isFirst = true;
    let isSwallowed = false;
    for (const [from, to] of [
      [client, relay],
      [relay, client],
    ]) {
      this.#pairs.add(from);
      from.on("data", (bytes) => {
        if (from === client && isFirst) {
          const head = bytes.toString("latin1");
          isSwallowed = this.swallows(head);
          if (!this.admits(head)) client.destroy();
        }
        isFirst &&= from !== client;
        if (this.isSilent || isSwallowed) return;
        if (this.delayMs === 0) to.write(bytes);
        else setTimeout(() => to.destroyed || to.write(bytes), this.delayMs);
      });
      from.on("error", () => {});
      from.on("close", () => {
        this.#pairs.delete(from);
        to.destroy();
      });
    }
  }
}
