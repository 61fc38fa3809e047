// What day it is, and where: what is drawn of a time depends on both, and on the language.

/** How often a page that stays open looks. */
const lookMs = 1000;

function current() {
  const now = new Date();
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return `${now.toDateString()} ${now.getTimezoneOffset()} ${timeZone} ${navigator.language}`;
}

/** Reports `change`: all days and times are to be drawn again. */
class Calendar extends EventTarget {
  #seen = current();

  constructor() {
    super();
    const look = () => this.#look();
    setInterval(look, lookMs);
    addEventListener("focus", look);
    document.addEventListener("visibilitychange", look);
  }

  #look() {
    const now = current();
    if (now === this.#seen) return;
    this.#seen = now;
    this.dispatchEvent(new Event("change"));
  }
}

export const calendar = new Calendar();
