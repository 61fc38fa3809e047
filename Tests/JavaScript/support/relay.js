// A real relay that can be killed and started again on its port, with its data.
import { execFileSync, spawn } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wait } from "./wait.js";

const program = process.env.RELAY;
if (!program) throw new Error("The environment variable RELAY must name the relay's program.");

export const withoutLimits =
  "limits: { connections_per_user: 0, sends_per_s: 0, burst: 0, requests_per_s: 0, bytes_per_s: 0 }";

export const secret = "a secret of the tests, and of nothing else";
export const withTokens = `auth: { mode: jwt, secret: "${secret}" }`;

/** A token of the relay above. Times in `claims` count from now, in seconds. */
export function token({ exp, ...claims }) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Date.now() / 1000;
  const body = `${part({ alg: "HS256" })}.${part({ ...claims, ...(exp === undefined ? {} : { exp: now + exp }) })}`;
  return `${body}.${createHmac("sha256", secret).update(body).digest("base64url")}`;
}

/** A folder that goes with the test. */
export function folder(t, parent = tmpdir()) {
  const path = mkdtempSync(join(parent, "relay-js-"));
  t.after(() => rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  return path;
}

/** What the relay says once it listens. */
const listening = (log) => /listening on ws:\/\/[\d.]+:(\d+)\/ws\n/.exec(readFileSync(log, "utf8"));

export class Relay {
  /**
   * An address of its own, of loopback: while the relay does not run, no relay of another test gets
   * its port, and answers its clients.
   */
  host = `127.${[...randomBytes(3)].map((byte) => 1 + (byte % 254)).join(".")}`;
  port = 0;
  #process;

  /** Starts a relay that ends with the test. */
  static async start(t, configuration = "") {
    const relay = new Relay();
    // Before its folder is removed, in which it would go on writing: hooks run in their order.
    t.after(() => relay.kill());
    relay.folder = folder(t);
    relay.data = join(relay.folder, "data");
    relay.configuration = configuration;
    await relay.start();
    return relay;
  }

  /** Starts it, on the port that it had before. */
  async start() {
    const log = join(this.folder, "relay.log");
    const running = this.#spawn(log);
    const said = await wait(() => {
      if (running.exitCode !== null) throw new Error(readFileSync(log, "utf8"));
      return listening(log);
    }, "the relay listens");
    this.port = Number(said[1]);
  }

  #spawn(log) {
    const file = join(this.folder, "relay.yaml");
    writeFileSync(
      file,
      `listen: ${this.host}:${this.port}\ndata: ${this.data}\n${this.configuration}\n`,
    );
    writeFileSync(log, "");
    // It does not outlive the test, however that ends. A write beyond a limit fails, and does not
    // kill it.
    const script = 'trap "" XFSZ && exec "$@" 2>"$0"';
    const command = [program, "serve", "--config", file];
    this.#process = spawn("setpriv", ["--pdeathsig", "KILL", "sh", "-c", script, log, ...command], {
      stdio: "ignore",
    });
    return this.#process;
  }

  get url() {
    return `ws://${this.host}:${this.port}`;
  }

  async kill(signal = "SIGKILL") {
    const running = this.#process;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const ended = new Promise((resolve) => running.once("exit", resolve));
    running.kill(signal);
    await ended;
  }

  /** Refuses every write of the relay, as a full disk does, until `freeDisk()`. */
  fillDisk() {
    execFileSync("prlimit", ["--pid", this.#process.pid, "--fsize=1:unlimited"]);
  }

  freeDisk() {
    execFileSync("prlimit", ["--pid", this.#process.pid, "--fsize=unlimited:unlimited"]);
  }

  async get(path, query = {}) {
    const url = new URL(`http://${this.host}:${this.port}/v1/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** Posts an entry as a user, without the library. */
  async post(user, room, fields) {
    const id = fields.id ?? `${user}-${Math.random()}`;
    const answer = await fetch(
      `http://${this.host}:${this.port}/v1/rooms/${room}/messages?user=${user}`,
      {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ id, ...fields }),
      },
    );
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  }

  /** All entries of a room, as a program without the library reads them. */
  async history(room, query = {}) {
    const entries = [];
    for (let more = true; more; ) {
      const after = entries.length > 0 ? entries[entries.length - 1].seq : 0;
      const page = await this.get(`rooms/${room}/messages`, {
        user: "auditor",
        after,
        limit: 500,
        ...query,
      });
      entries.push(...page.entries);
      more = page.more;
    }
    return entries;
  }
}
