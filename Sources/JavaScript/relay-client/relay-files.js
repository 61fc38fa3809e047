// Files: uploads by tus 1.0.0 (https://tus.io/protocols/resumable-upload), and addresses of files.
// Loaded with the first one.
import { bytes } from "./check.js";
import { bounded } from "./deadline.js";
import { RelayError, toldBy } from "./errors.js";
import { requested } from "./requested.js";

/** @import { Connection } from "./connection.js" */
/** @import { Journal } from "./journal.js" */
/** @import { Outbox } from "./outbox.js" */
/** @import { Event, Line } from "./types.js" */

/** A part is as large as takes about a second: so there is progress, and little is sent twice. */
const partBytes = { first: 128 * 1024, least: 64 * 1024, most: 4 * 1024 * 1024 };
const partMs = 1000;
/** A request that has no answer for so long is given up, and goes on where the relay is. */
const answerMs = 60_000;
const pauseMs = { first: 500, longest: 20_000, step: 250 };
/** An address is given out for at most so long: who gets it needs some time to use it. */
const linkMs = { longest: 60_000, reserve: 15_000 };

const gone = () =>
  new RelayError("file_gone", "The file cannot be read any more: choose it again.");

/** Neither a path, nor what would show another name. */
const fileName = /^(?=.*\S)[^/\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+$/;
const nameBytes = 255;
const unnamed = () =>
  new RelayError(
    "bad_field",
    `A file's name has 1 to ${nameBytes} bytes, no / and no control characters.`,
    {
      field: "name",
    },
  );

/** Answers after which the same may succeed: the others refuse the file. @param {number} status */
const isTemporary = (status) =>
  status === 401 || status === 408 || status === 423 || status === 429 || status === 503;

/** @typedef {{line: Line, stop: AbortController}} Item */

/**
 * Uploads the files of lines, one after the other in their order, for as long as it takes: after a
 * failure the relay is asked how much it has.
 */
export class Files {
  #connection;
  #journal;
  #outbox;
  #tell;
  /** @type {Map<string, Item>} by id of the line */
  #items = new Map();
  #isRunning = false;
  #partBytes = partBytes.first;
  /** @type {Map<string, {url: Promise<URL>, until: number}>} by id of the file */
  #links = new Map();

  /**
   * @param {Connection} connection @param {Journal} journal @param {Outbox} outbox
   * @param {(event: Event) => void} tell
   */
  constructor(connection, journal, outbox, tell) {
    this.#connection = connection;
    this.#journal = journal;
    this.#outbox = outbox;
    this.#tell = tell;
    connection.access.signal.addEventListener("abort", () => this.#end());
  }

  /** @param {Line} line */
  upload(line) {
    if (this.#items.has(line.id)) return;
    this.#items.set(line.id, { line, stop: new AbortController() });
    toldBy("refused", this.#run());
  }

  /** The line was withdrawn, or has an outcome. @param {string} id */
  cancel(id) {
    const item = this.#items.get(id);
    this.#items.delete(id);
    item?.stop.abort();
    const begun = item?.line.begun;
    // One that stays goes by itself, after a day.
    if (begun !== undefined) toldBy("the relay's log", this.#request(begun, { method: "DELETE" }));
  }

  /** The client ends: what is not uploaded goes on with the next one. */
  #end() {
    for (const { stop } of this.#items.values()) stop.abort();
    this.#items.clear();
  }

  async #run() {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (const item of this.#items.values()) {
      await this.#complete(item);
      this.#items.delete(item.line.id);
    }
    this.#isRunning = false;
  }

  /** Uploads a file, or refuses it. @param {Item} item */
  async #complete(item) {
    const { signal } = item.stop;
    for (let failures = 0; !signal.aborted; failures += 1) {
      const before = this.#sent;
      try {
        const file = await this.#send(item);
        if (!signal.aborted) this.#change(item, { file });
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof RelayError && !error.retryable && error.code !== "timed_out")
          return this.#outbox.settle(item.line.room, item.line.id, { error });
        if (this.#sent > before) failures = 0;
        const { retryAfterMs } = /** @type {Partial<RelayError>} */ (error);
        const ms = Math.min(pauseMs.longest, pauseMs.first * 2 ** Math.min(failures, 20));
        await this.#pause(retryAfterMs ?? ms, signal);
      }
    }
  }

  /** How many bytes were sent, of all files. */
  #sent = 0;

  /**
   * Sends what the relay does not have of a file.
   * @param {Item} item
   * @returns {Promise<string>} the id of the file
   */
  async #send(item) {
    const { name, upload: blob, begun } = item.line;
    if (!(blob instanceof Blob)) throw gone(); // it was not kept
    if (!fileName.test(name ?? "") || bytes(name) > nameBytes) throw unnamed();
    const { signal } = item.stop;
    const { size } = blob;
    let offset = begun === undefined ? undefined : await this.#offset(begun, signal);
    if (offset === undefined) {
      await this.#create(item, blob);
      offset = 0;
    }
    const file = /** @type {string} */ (item.line.begun);
    while (offset < size) {
      this.#progress(item.line, offset, size);
      const part = await blob
        .slice(offset, offset + this.#partBytes)
        .arrayBuffer()
        .catch(() => {
          throw gone();
        });
      const began = performance.now();
      const answer = await this.#request(file, {
        method: "PATCH",
        body: part,
        signal,
        headers: {
          "Content-Type": "application/offset+octet-stream",
          "Upload-Offset": `${offset}`,
        },
      });
      this.#sent += part.byteLength;
      this.#adapt(performance.now() - began);
      const taken = offsetIn(answer);
      if (taken <= offset)
        throw new RelayError("failed", "The relay has taken nothing of the file.");
      offset = taken;
    }
    this.#progress(item.line, size, size);
    return file;
  }

  /**
   * Keeps what the upload goes on from, or the file: then the line can be sent.
   * @param {Item} item @param {{begun?: string, file?: string}} change
   */
  #change(item, change) {
    item.line = { ...item.line, ...change };
    this.#journal.add({ outbox: [item.line] });
    if (item.line.file) this.#outbox.add(item.line);
  }

  /** @param {Line} line @param {number} sent @param {number} size */
  #progress({ room, id }, sent, size) {
    this.#tell({ type: "progress", room, id, sent, size });
  }

  /** @param {Item} item @param {Blob} blob */
  async #create(item, { size, type }) {
    const { room, name } = item.line;
    const metadata = Object.entries({ filename: name, filetype: type, room })
      .map(([key, value]) => (value ? `${key} ${base64(value)}` : key))
      .join(",");
    const answer = await this.#request("", {
      method: "POST",
      signal: item.stop.signal,
      headers: { "Upload-Length": `${size}`, "Upload-Metadata": metadata },
    });
    // The relay may be below a path, of which it knows nothing.
    const id = answer.headers.get("Location")?.split("/").at(-1);
    if (!id) throw new RelayError("failed", "The relay has not named the upload.");
    this.#change(item, { begun: id });
  }

  /**
   * How much the relay has of a file: undefined if it has none, and Infinity if it has all. A picture that it
   * has all of may have another size then.
   * @param {string} id @param {AbortSignal} signal
   */
  async #offset(id, signal) {
    try {
      const answer = await this.#request(id, { method: "HEAD", signal });
      const offset = offsetIn(answer);
      return Number(answer.headers.get("Upload-Length") ?? Infinity) === offset ? Infinity : offset;
    } catch (error) {
      const { status } = /** @type {{status?: number}} */ (error);
      if (status === 404 || status === 410) return undefined;
      throw error;
    }
  }

  /** @param {number} ms that the last part took */
  #adapt(ms) {
    const factor = ms < partMs / 2 ? 2 : ms > partMs * 2 ? 0.5 : 1;
    const { least, most } = partBytes;
    this.#partBytes = Math.max(least, Math.min(most, this.#partBytes * factor));
  }

  /**
   * A request about an upload. Rejects with what the relay says, and its status.
   * @param {string} id @param {RequestInit & {signal?: AbortSignal}} init
   */
  async #request(id, { signal, ...init }) {
    const headers = { "Tus-Resumable": "1.0.0", ...init.headers };
    const { access } = this.#connection;
    const url = new URL(id ? `v1/files/${id}` : "v1/files", access.base);
    const answer = await bounded(
      (signal) => requested(access, url, { ...init, headers, signal }),
      "The relay",
      answerMs,
      signal,
    );
    if (answer.ok) return answer;
    const error = await problemOf(answer);
    // The relay has more, since a browser has repeated the request by itself, or nothing: it is asked.
    if (init.method === "PATCH" && [404, 409, 410].includes(error.status)) error.retryable = true;
    throw error;
  }

  /**
   * Waits; a connection that is there again ends that.
   * @param {number} ms @param {AbortSignal} signal
   */
  async #pause(ms, signal) {
    for (let left = ms; left > 0 && !signal.aborted; left -= pauseMs.step) {
      const { isOnline } = this.#connection;
      await new Promise((resolve) => setTimeout(resolve, Math.min(left, pauseMs.step)));
      if (!isOnline && this.#connection.isOnline) return;
    }
  }

  // MARK: Addresses

  /**
   * An address from which a file can be loaded: with a token one that is signed, for a minute. Without one, the
   * relay sends a browser to such an address itself, if files have a host of their own.
   * @param {string} path an id, or that and `/thumbnail`
   * @param {string} [name] under which a browser saves the file, and does not show it
   */
  async url(path, name) {
    const { base, user, token } = this.#connection.access;
    const url = new URL(`v1/files/${path}`, base);
    if (token !== undefined) {
      const link = await this.#link(path.split("/")[0]);
      if (link.origin !== url.origin) url.href = `${link.origin}/v1/files/${path}`;
      url.search = link.search;
    } else if (user !== undefined) url.searchParams.set("user", user);
    if (name !== undefined) {
      url.searchParams.set("name", name);
      url.searchParams.set("disposition", "attachment");
    }
    return url.href;
  }

  /** @param {string} id */
  #link(id) {
    const known = this.#links.get(id);
    if (known && Date.now() < known.until) return known.url;
    const link = { url: this.#sign(id), until: Date.now() + linkMs.longest - linkMs.reserve };
    for (const [other, { until }] of this.#links) if (until < Date.now()) this.#links.delete(other);
    this.#links.set(id, link);
    link.url.catch(() => this.#links.delete(id));
    return link.url;
  }

  /** @param {string} id */
  async #sign(id) {
    const answer = await this.#request(`${id}/link`, { method: "POST" });
    const { url } = await answer.json();
    return new URL(url, this.#connection.access.base);
  }
}

/** @param {Response} answer */
function offsetIn(answer) {
  const offset = Number(answer.headers.get("Upload-Offset") ?? Number.NaN);
  if (!(offset >= 0)) throw new RelayError("failed", "The relay has not said how much it has.");
  return offset;
}

/**
 * Why a request has failed: a `RelayError` that is not `retryable` if it will fail again.
 * @param {Response} answer
 */
async function problemOf(answer) {
  const problem = await answer.json().catch(() => ({}));
  const message = problem.detail ?? `The relay answered with HTTP ${answer.status}.`;
  const error = new RelayError(problem.code ?? "failed", message, problem);
  const seconds = Number(answer.headers.get("Retry-After"));
  error.retryable = isTemporary(answer.status) || (answer.status >= 500 && answer.status !== 507);
  if (seconds > 0) error.retryAfterMs ??= 1000 * seconds;
  return Object.assign(error, { status: answer.status });
}

/** @param {string} text */
function base64(text) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
