// The last transport: long polls for what comes, and POST for requests.
import { HTTPTransport, pause } from "./http.js";

/** @import { Place } from "./http.js" */
/** @import { TransportContext, Wire } from "./types.js" */

const waitS = 25;
const sharedWaitS = 3; // while other rooms wait for their turn
const pageLimit = 500;

/** @param {TransportContext} context */
export const openPoll = (context) => new PollTransport(context);

/**
 * Waits for entries of the room that was joined last, and looks for those of the others in between.
 */
class PollTransport extends HTTPTransport {
  #isPolling = false;
  /** Ends a poll that waits for another room. */
  #waiting = new AbortController();

  /** @override @param {Place[]} places */
  join(places) {
    for (const place of places) this.#join(place);
  }

  /** @param {Place} place */
  async #join(place) {
    const { room } = place;
    const answer = await this.ask({ type: "join", ...place });
    if (answer.type === "joined") {
      const { after, lineage } = answer;
      this.places.delete(room); // to the end
      this.places.set(room, { room, after, lineage });
      this.#waiting.abort();
      this.receive(answer);
      this.#poll();
    } else {
      this.receive({ ...answer, re: "join", room });
    }
  }

  async #poll() {
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      while (this.places.size > 0 && !this.signal.aborted) {
        const places = [...this.places.values()];
        const last = /** @type {Place} */ (places.pop());
        await Promise.all(
          places.map(async (place) => this.#take(place, await this.ask(this.#request(place)))),
        );
        await this.#wait(last, places.length > 0 ? sharedWaitS : waitS);
      }
    } catch (error) {
      this.fail(1006, String(error));
    }
    this.#isPolling = false;
  }

  /** @param {Place} place */
  #request({ room, after, lineage }) {
    return { type: "history", room, after, lineage, limit: pageLimit };
  }

  /** @param {Place} place @param {number} seconds */
  async #wait(place, seconds) {
    const { room, after = 0, lineage = [] } = place;
    this.#waiting = new AbortController();
    const { signal } = this.#waiting;
    const end = () => this.#waiting.abort();
    this.signal.addEventListener("abort", end, { once: true });
    try {
      const response = await this.fetch(
        `v1/rooms/${encodeURIComponent(room)}/messages`,
        [
          ["after", after],
          ["limit", pageLimit],
          ["wait_s", seconds],
          ["lineage", lineage.map(({ epoch, after }) => `${epoch}:${after}`).join()],
        ],
        { signal },
      );
      if (response.ok) return await this.#take(place, await response.json());
      const { retryAfterMs, problem } = await this.refused(response);
      if (retryAfterMs !== undefined) return await pause(retryAfterMs, this.signal);
      this.places.delete(room);
      this.receive({ ...problem, re: "join", room });
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.signal.removeEventListener("abort", end);
    }
  }

  /** @param {Place} place @param {Wire} history */
  async #take(place, history) {
    if (this.places.get(place.room) !== place) return; // it was left, or joined again
    const { type, entries, epoch, resume } = history;
    if (type !== "history") {
      this.places.delete(place.room);
      return this.receive({ ...history, type: "error", re: "join", room: place.room });
    }
    // A join tells what has become of the log, and the marks.
    if ((resume ?? "ok") !== "ok" || epoch !== place.lineage?.[0]?.epoch)
      return await this.#join(place);
    for (const entry of entries) {
      place.after = entry.seq;
      this.receive(entry);
    }
  }
}
