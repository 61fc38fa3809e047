// What is loaded of one room: a part of its log without gaps, in rising `seq`.

const pageSize = 100;
/** More than this, and a page, is forgotten at the end that is farther away. */
const loadedLimit = 2000;

/** Reports `change` {reset}, `arrive` {messages}, `marks`, `typing` and `pending`. */
export class Conversation extends EventTarget {
  /** @type {any[]} */
  items = [];
  /** Whether there is more before the first item, and after the last. */
  older = true;
  newer = false;
  /** Whether nothing is known of the room yet. */
  isLoading = true;
  /** What had been read when the conversation was opened. @type {number | undefined} */
  readBefore = undefined;
  /** Whether the newest message is in view: then older ones are forgotten first. */
  isFollowed = () => true;
  #ending = new AbortController();
  /** @type {Set<string>} */
  #toTell = new Set();
  /** @type {{older?: Promise<void>, newer?: Promise<void>}} */
  #loading = {};
  #generation = 0;

  /** @param {any} room */
  constructor(room) {
    super();
    this.room = room;
    const signal = this.#ending.signal;
    const on = (/** @type {string} */ event, /** @type {(argument: any) => void} */ listener) =>
      room.on(event, listener, { signal });
    on("messages", (messages) => this.#arrive(messages));
    on("changes", (messages) => this.#change(messages));
    on("reset", () => this.#begin());
    on("pending", () => this.#tell("pending"));
    on("marks", () => this.#tellOnce("marks"));
    on("typing", () => this.#tellOnce("typing"));
    on("state", () => this.#noteState());
    this.#begin();
  }

  close() {
    this.#ending.abort();
  }

  /** Aborted when the conversation is closed. */
  get ended() {
    return this.#ending.signal;
  }

  /** Resolves when the room is open, or refused. @param {AbortSignal} signal */
  async opened(signal) {
    while (!signal.aborted && this.room.state === "opening") {
      await new Promise((resolve) => {
        this.addEventListener("state", resolve, { once: true });
        signal.addEventListener("abort", resolve, { once: true });
      });
    }
  }

  /** @param {number} seq */
  index(seq) {
    let low = 0;
    for (let high = this.items.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (this.items[middle].seq < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The message, if it is loaded. @param {number} seq */
  get(seq) {
    const item = this.items[this.index(seq)];
    return item?.seq === seq ? item : this.room.get(seq);
  }

  get first() {
    return this.room.first || 1;
  }
  get head() {
    return Math.max(this.room.head ?? 0, this.items.at(-1)?.seq ?? 0);
  }

  /** Loads the page before the first item. */
  loadOlder() {
    if (!this.older || this.items.length === 0) return Promise.resolve();
    this.#loading.older ??= this.#load("older", async (signal) => {
      const page = await this.room.history.before(this.items[0].seq, { limit: pageSize, signal });
      return () => {
        const before = this.items[0]?.seq ?? Infinity;
        const messages = page.messages.filter((/** @type {any} */ message) => message.seq < before);
        this.items = [...messages, ...this.items];
        this.older = page.older && messages.length > 0;
        if (this.items.length > loadedLimit) {
          this.items.length = loadedLimit;
          this.newer = true;
        }
      };
    });
    return this.#loading.older;
  }

  /** Loads the page after the last item. */
  loadNewer() {
    if (!this.newer || this.items.length === 0) return Promise.resolve();
    this.#loading.newer ??= this.#load("newer", async (signal) => {
      const page = await this.room.history.after(this.items.at(-1).seq, {
        limit: pageSize,
        signal,
      });
      return () => {
        this.#append(page.messages);
        this.newer = page.newer;
        if (!page.newer) this.#append(this.room.latest);
        if (this.items.length > loadedLimit) {
          this.items.splice(0, this.items.length - loadedLimit);
          this.older = true;
        }
      };
    });
    return this.#loading.newer;
  }

  /**
   * Loads the page around a message or a time, unless the message is there.
   * @param {number | Date} place
   */
  async jump(place) {
    if (typeof place === "number" && this.items.length > 0) {
      const { seq } = this.items[Math.min(this.index(place), this.items.length - 1)];
      const isWithin =
        place >= this.items[0].seq && (place <= this.items.at(-1).seq || !this.newer);
      if (isWithin) return seq;
    }
    const generation = ++this.#generation;
    const page = await this.room.jump(place, { limit: pageSize, signal: this.#ending.signal });
    if (generation !== this.#generation) return undefined;
    this.#loading = {};
    this.items = page.messages;
    this.older = page.older;
    this.newer = page.newer;
    this.#tell("change", { reset: true });
    const wanted =
      typeof place === "number"
        ? place
        : page.messages.find((/** @type {any} */ message) => message.at >= place.getTime())?.seq;
    return this.items[Math.min(this.index(wanted ?? Infinity), this.items.length - 1)]?.seq;
  }

  /**
   * Goes back to the newest messages, also from a place that is still being loaded. Whether others
   * are loaded now.
   */
  toNewest() {
    const { newer } = this;
    this.#generation++;
    this.#loading = {};
    if (newer) this.#begin();
    return newer;
  }

  // MARK: What happens

  #begin() {
    this.#generation++;
    this.#loading = {};
    this.items = [...this.room.latest];
    this.newer = false;
    this.older =
      this.items.length > 0
        ? this.items[0].seq > this.first
        : this.room.state !== "live" || this.room.head >= this.first;
    this.#noteState();
    this.#tell("change", { reset: true });
    // The store had nothing, but the log has: deletions and edits may fill the newest page.
    if (this.items.length === 0 && this.older && this.room.state === "live") this.#fetchNewest();
  }

  async #fetchNewest() {
    const generation = this.#generation;
    const page = await this.room.history
      .newest({ limit: pageSize, signal: this.#ending.signal })
      .catch((/** @type {any} */ error) => this.#tell("problem", { error }));
    if (!page || generation !== this.#generation || this.items.length > 0) return;
    this.items = page.messages;
    this.older = page.older;
    this.#tell("change", { reset: true });
  }

  #noteState() {
    const { room } = this;
    if (this.readBefore === undefined && room.state === "live")
      this.readBefore = room.mine?.read ?? 0;
    const wasLoading = this.isLoading;
    this.isLoading = room.state === "opening" && this.items.length === 0;
    if (this.items.length > 0 && this.items[0].seq <= this.first) this.older = false;
    if (this.items.length === 0 && room.state === "live" && !room.head) this.older = false;
    if (wasLoading !== this.isLoading) this.#tell("change", {});
    this.#tell("state");
  }

  /** @param {any[]} messages */
  #arrive(messages) {
    this.isLoading = false;
    if (!this.newer) this.#append(messages);
    if (this.items.length > loadedLimit + pageSize && !this.newer) {
      if (this.isFollowed()) {
        this.items.splice(0, this.items.length - loadedLimit);
        this.older = true;
      } else this.newer = true; // what follows is loaded when it is wanted
    }
    this.#tell("arrive", { messages });
  }

  /** @param {any[]} messages */
  #append(messages) {
    const last = this.items.at(-1)?.seq ?? 0;
    for (const message of messages) if (message.seq > last) this.items.push(message);
  }

  /** @param {any[]} messages */
  #change(messages) {
    for (const message of messages) {
      const index = this.index(message.seq);
      if (this.items[index]?.seq === message.seq) this.items[index] = message;
    }
    this.#tell("change", { messages });
  }

  /** @param {"older" | "newer"} end @param {(signal: AbortSignal) => Promise<() => void>} read */
  async #load(end, read) {
    const generation = this.#generation;
    this.#tell("loading");
    try {
      const apply = await read(this.#ending.signal);
      if (generation === this.#generation) apply();
    } catch (error) {
      this.#tell("problem", { error }); // scrolling on tries again
    }
    if (generation === this.#generation) delete this.#loading[end];
    if (!this.#ending.signal.aborted) this.#tell("change", {});
  }

  /** @param {"older" | "newer"} end */
  isReading(end) {
    return this.#loading[end] !== undefined;
  }

  /** Once for all that happens together. @param {string} type */
  #tellOnce(type) {
    if (this.#toTell.size === 0) {
      queueMicrotask(() => {
        const types = this.#toTell;
        this.#toTell = new Set();
        for (const one of types) if (!this.#ending.signal.aborted) this.#tell(one);
      });
    }
    this.#toTell.add(type);
  }

  /** @param {string} type @param {any} [detail] */
  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
