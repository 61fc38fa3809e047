// Headless Chromium with tabs that run functions of the tests, and a server of the library's files.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { WebSocket } from "./client.js";
import { folder } from "./relay.js";
import { wait } from "./wait.js";

// Where a profile lies: in memory, if possible. Chromium waits for its disk, and tests beside it sync a disk without rest.
const profiles = existsSync("/dev/shm") ? "/dev/shm" : undefined;

const library = new URL("../../../Sources/JavaScript/relay-client/", import.meta.url);

/** Serves `/relay-client/…` and an empty page everywhere else. */
export async function startPages(t) {
  const server = createServer(async (request, response) => {
    const [, name] = /^\/relay-client\/([a-z-]+\.js)$/.exec(request.url) ?? [];
    response.setHeader("Content-Type", name ? "text/javascript" : "text/html");
    response.end(
      name
        ? await readFile(fileURLToPath(new URL(name, library)))
        : "<!doctype html><title>page</title>",
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

export class Browser {
  #socket;
  #count = 0;
  #waiting = new Map();
  #process;

  /** @param {string[]} flags of Chromium */
  static async start(t, flags = []) {
    const browser = new Browser();
    t.after(() => browser.stop());
    browser.profile = folder(t, profiles);
    let said = "";
    browser.#process = spawn(
      "setpriv",
      [
        "--pdeathsig",
        "KILL",
        "/usr/lib/chromium/chromium-headless-shell",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--no-first-run",
        "--no-proxy-server",
        "--remote-debugging-port=0",
        `--user-data-dir=${browser.profile}`,
        ...flags,
        "about:blank",
      ],
      { stdio: ["ignore", "ignore", "pipe"], detached: true },
    ); // with its own processes in one group
    browser.#process.stderr.on("data", (text) => {
      said += text;
    });
    const [, url] = await wait(
      () => /DevTools listening on (ws:\S+)/.exec(said),
      () => `Chromium runs: ${said}`,
    );
    browser.#socket = new WebSocket(url, { perMessageDeflate: false });
    browser.#socket.onmessage = ({ data }) => browser.#hear(JSON.parse(data));
    await new Promise((resolve) => {
      browser.#socket.onopen = resolve;
    });
    return browser;
  }

  async stop() {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    process.kill(-this.#process.pid, "SIGKILL");
    await ended;
    this.#socket?.terminate();
  }

  #hear({ id, result, error }) {
    const { resolve, reject } = this.#waiting.get(id) ?? {};
    this.#waiting.delete(id);
    if (error) reject?.(new Error(error.message));
    else resolve?.(result);
  }

  command(method, params = {}, sessionId = undefined) {
    return new Promise((resolve, reject) => {
      this.#waiting.set(++this.#count, { resolve, reject });
      this.#socket.send(JSON.stringify({ id: this.#count, method, params, sessionId }));
    });
  }

  /** A tab, once its page is loaded. */
  async open(url) {
    const { targetId } = await this.command("Target.createTarget", { url });
    const { sessionId } = await this.command("Target.attachToTarget", { targetId, flatten: true });
    const tab = new Tab(this, targetId, sessionId);
    await wait(
      () =>
        tab
          .run((url) => location.href.startsWith(url) && document.readyState === "complete", url)
          .catch(() => false),
      "the page is loaded",
    );
    return tab;
  }
}

class Tab {
  constructor(browser, targetId, sessionId) {
    Object.assign(this, { browser, targetId, sessionId });
  }

  /** Runs a function in the page, which sees nothing but its arguments. */
  async run(body, ...args) {
    const expression = `(${body})(...${JSON.stringify(args)})`;
    const { result, exceptionDetails } = await this.browser.command(
      "Runtime.evaluate",
      { expression, awaitPromise: true, returnByValue: true },
      this.sessionId,
    );
    if (exceptionDetails)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** What is in an IndexedDB, read without a store of its own: that would take it over. */
  async stored(database, name) {
    return this.run(
      async (database, name) => {
        const result = (request) =>
          new Promise((resolve, reject) => {
            request.onsuccess = () => resolve(request.result);
            request.onerror = () => reject(request.error);
          });
        const opened = await result(indexedDB.open(database));
        const all = await result(opened.transaction(name).objectStore(name).getAll());
        opened.close();
        return all;
      },
      database,
      name,
    );
  }

  /** Ends the tab without a word to its page. */
  async crash() {
    this.browser.command("Page.crash", {}, this.sessionId).catch(() => {});
    await this.browser.command("Target.closeTarget", { targetId: this.targetId });
  }

  async reload() {
    await this.run(() => {
      window.isOld = true;
    });
    await this.browser.command("Page.reload", {}, this.sessionId);
    await wait(
      () => this.run(() => !window.isOld && document.readyState === "complete").catch(() => false),
      "it is loaded",
    );
  }
}
