// Who there is: names, pictures, presence.

/** @import { RelayError } from "./relay-client/errors.js" */
/** @import { Relay } from "./relay-client/relay.js" */
/** @import { Person } from "./relay-client/types.js" */

const retryMs = 1500;
const pageLimit = 100;
/**
 * After how long a list of one page is asked for again: nothing tells of people who have come since.
 * The wait doubles.
 */
const [firstAgainMs, lastAgainMs] = [2000, 60_000];
const longestWaitMs = 60 * 60_000;

/** Reports `change` and `problem`. */
export class People extends EventTarget {
  /** @type {Map<string, Person>} people by user, in the order of the directory */
  known = new Map();
  /** Whether the whole directory is loaded. */
  isComplete = false;
  isLoading = false;
  /** Why the directory is not current. @type {RelayError | undefined} */
  problem;
  /** @type {string | undefined} */
  #cursor;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #againMs = firstAgainMs;
  #relay;

  /** @param {Relay} relay */
  constructor(relay) {
    super();
    this.#relay = relay;
    relay.on("presence", () => this.#tell("presence"));
    relay.people.on("problem", (problem) => {
      this.problem = relay.people.problem ?? problem;
      this.#retryLater();
      this.#tell("problem");
    });
  }

  /** Loads the next page of the directory. */
  async more() {
    if (this.isLoading || this.isComplete) return;
    this.isLoading = true;
    try {
      const page = await this.#relay.people.page({ cursor: this.#cursor, limit: pageLimit });
      this.add(page.people);
      this.#cursor = page.next;
      this.isComplete = page.next === undefined;
      this.problem = this.#relay.people.problem;
    } catch (error) {
      this.problem = /** @type {RelayError} */ (error);
    }
    this.isLoading = false;
    this.#retryLater();
    this.#tell("change");
  }

  /** Asks again when a problem may be over, which the relay does not say, or for a short list. */
  #retryLater() {
    clearTimeout(this.#timer);
    if (!this.problem && !(this.isComplete && this.known.size <= pageLimit)) return;
    let wait = this.#againMs;
    if (this.problem)
      wait = Math.min(
        Math.max((this.problem.resetAt?.getTime() ?? 0) - Date.now(), 0),
        longestWaitMs,
      );
    else this.#againMs = Math.min(2 * wait, lastAgainMs);
    this.#timer = setTimeout(
      () => {
        this.#cursor = undefined;
        this.isComplete = false;
        this.more();
      },
      wait + retryMs * (1 + Math.random()),
    );
  }

  /** Asks the relay for people by name. @param {string} query @param {AbortSignal} signal */
  async search(query, signal) {
    try {
      const page = await this.#relay.people.page({ query, limit: 20, signal });
      this.add(page.people);
      this.#tell("change");
    } catch (error) {
      if (signal.aborted) return;
      this.problem = /** @type {RelayError} */ (error);
      this.#tell("problem");
    }
  }

  /** @param {Person[]} people */
  add(people) {
    for (const person of people) this.known.set(person.user, person);
  }

  /** Shows another name of a user. @param {string} user @param {string} name */
  rename(user, name) {
    this.add([{ presence: "online", ...this.known.get(user), user, name }]);
    this.#tell("change");
  }

  /** @param {string} user @returns {string | undefined} */
  name(user) {
    return this.known.get(user)?.name;
  }

  /** @param {string} user @returns {"online" | "away" | "offline" | undefined} */
  presence(user) {
    if (this.#relay.health.state !== "online") return undefined; // nobody tells now
    return this.#relay.presence.of(user)?.presence;
  }

  /** @param {string} user */
  lastSeen(user) {
    return this.#relay.presence.of(user)?.lastSeen ?? this.known.get(user)?.lastSeen;
  }

  /** @param {string} type */
  #tell(type) {
    this.dispatchEvent(new Event(type));
  }
}
