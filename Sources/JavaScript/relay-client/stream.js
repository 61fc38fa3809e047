// The second transport: an event stream for what comes, and POST for requests.
import { Deadline } from "./deadline.js";
import { HTTPTransport } from "./http.js";

/** @import { Place } from "./http.js" */
/** @import { TransportContext, Wire } from "./types.js" */

const silenceMs = 40_000; // the relay writes a comment each 15 s
const queryLimit = 7000; // within the relay's `header_bytes`

/** @param {TransportContext} context */
export const openStream = (context) => new StreamTransport(context);

class StreamTransport extends HTTPTransport {
  /** The stream in use; ended when the rooms are others. */
  #stream = new AbortController();
  /** @type {Deadline | undefined} */
  #watchdog;
  #isScheduled = false;

  /** @override @param {Place[]} places */
  join(places) {
    for (const place of places) this.places.set(place.room, place);
    this.#reopen();
  }

  /** @override @param {string} room */
  leave(room) {
    super.leave(room);
    this.#reopen();
  }

  /** @override */
  close() {
    super.close();
    this.#stream.abort();
    this.#watchdog?.end();
  }

  /** Once for all joins that come together. */
  #reopen() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#stream.abort();
      this.#watchdog?.end();
      if (this.signal.aborted || this.places.size === 0) return;
      this.#stream = new AbortController();
      this.#read(this.#stream);
    });
  }

  /** @param {AbortController} stream */
  async #read(stream) {
    const { signal } = stream;
    try {
      this.#watch(this.context.timing.welcomeMs, false); // a proxy that buffers lets nothing through
      const response = await this.fetch("v1/stream", this.#query(), { signal });
      if (!response.ok || !response.body) return await this.#refused(response);
      for await (const { event, data } of events(response.body, () => this.#watch(silenceMs))) {
        if (signal.aborted) return;
        if (event !== "welcome") this.#take(JSON.parse(data));
      }
      throw new Error("The stream has ended.");
    } catch (error) {
      if (!signal.aborted) this.fail(1006, String(error));
    }
  }

  /** The rooms and positions. Those that do not fit the head of a request are refused. */
  #query() {
    /** @type {[string, string | number][]} */
    const query = [];
    let size = 0;
    for (const { room, after, lineage } of this.places.values()) {
      size += room.length + 60;
      if (size > queryLimit) {
        this.places.delete(room);
        this.receive({
          type: "error",
          re: "join",
          room,
          code: "too_many_rooms",
          message: "An event stream has fewer rooms.",
        });
        continue;
      }
      query.push(["room", room]);
      if (after !== undefined) query.push(["after", after]);
      if (lineage?.length) query.push(["epoch", lineage[0].epoch]);
    }
    return query;
  }

  /** @param {Response} response none of the rooms can be joined, or the stream itself is refused */
  async #refused(response) {
    const { retryAfterMs, problem } = await this.refused(response);
    if (retryAfterMs !== undefined) return this.fail(1013, problem.message);
    const room = problem.room ?? this.places.keys().next().value;
    this.places.delete(room);
    this.receive({ ...problem, re: "join", room });
    this.#reopen();
  }

  /** @param {Wire} message */
  #take(message) {
    const place = this.places.get(message.room);
    if (message.type === "message" && place) place.after = message.seq;
    if (message.type === "joined" && place)
      Object.assign(place, { after: message.after, lineage: message.lineage });
    if (message.type === "left" || (message.type === "error" && message.re === "join"))
      this.places.delete(message.room);
    this.receive(message);
    if (message.type === "error" && message.code === "token_expired")
      this.fail(4401, message.message);
  }

  /** @param {number} ms @param {boolean} [isFit] streams work here */
  #watch(ms, isFit) {
    this.#watchdog?.end();
    this.#watchdog = new Deadline(ms, () => {
      this.#stream.abort();
      this.fail(1006, "The event stream is silent.", isFit);
    });
  }
}

/**
 * The events of a stream (the HTML standard, "Server-sent events").
 * @param {ReadableStream<Uint8Array>} body
 * @param {() => void} alive called for whatever comes
 */
async function* events(body, alive) {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let [rest, event, data] = ["", "", ""];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    alive();
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("event: ")) event = line.slice(7);
      else if (line.startsWith("data: ")) data += `${line.slice(6)}\n`;
      else if (line === "") {
        if (data !== "") yield { event, data };
        [event, data] = ["", ""];
      }
    }
  }
}
