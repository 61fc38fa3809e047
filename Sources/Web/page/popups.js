// Menus, choices and questions that lie over the page. The focus returns to where it was.

import { el, focused, icon, keys } from "./dom.js";
import { dialog, root } from "./opening.js";
import { rowOf } from "./row.js";

/**
 * Puts an element beside another one, until something else is pointed to.
 * @param {HTMLElement} anchor
 * @param {HTMLElement} element
 * @returns {(isReturning?: boolean) => void} takes it away, and by default returns the focus
 */
function popOver(anchor, element) {
  const back = focused();
  // The buttons of a message go when its row is drawn again.
  const row = rowOf(anchor);
  const ending = new AbortController();
  const { signal } = ending;
  const close = (isReturning = true) => {
    if (signal.aborted) return;
    ending.abort();
    element.remove();
    if (isReturning)
      (back?.isConnected && back !== document.body
        ? back
        : row?.isConnected
          ? row
          : anchor
      ).focus();
  };
  const put = () => {
    const box = anchor.getBoundingClientRect();
    const { width, height } = element.getBoundingClientRect();
    const above = box.top - height - 6;
    const top =
      box.bottom + 6 + height < innerHeight
        ? box.bottom + 6
        : above > 8
          ? above
          : Math.max(8, innerHeight - height - 8);
    const left = box.left < innerWidth / 2 ? box.left : box.right - width;
    element.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
    element.style.top = `${top}px`;
  };
  (anchor.closest("dialog, main, nav") ?? root(anchor)).append(element);
  put();
  document.addEventListener(
    "pointerdown",
    (event) => {
      if (!event.composedPath().includes(element)) close(false);
    },
    { signal, capture: true },
  );
  addEventListener("blur", () => close(false), { signal });
  addEventListener("resize", put, { signal }); // also when the keyboard of a phone comes
  return close;
}

/** @param {KeyboardEvent} event */
function take(event) {
  event.preventDefault();
  event.stopPropagation();
}

/**
 * A menu beside an element.
 * @param {HTMLElement} anchor
 * @param {{label: string, act: () => void, isDangerous?: boolean, isOn?: boolean}[]} entries
 * @param {{label: string}} options
 */
export function menu(anchor, entries, { label }) {
  const list = el("div", { class: "menu", role: "menu", "aria-label": label });
  const items = entries.map((entry) =>
    el(
      "button",
      {
        type: "button",
        role: entry.isOn === undefined ? "menuitem" : "menuitemcheckbox",
        tabIndex: -1,
        class: entry.isDangerous ? "dangerous" : undefined,
        "aria-checked": entry.isOn,
        on: {
          click: () => {
            close();
            entry.act();
          },
        },
      },
      entry.label,
    ),
  );
  list.append(...items);
  list.addEventListener(
    "keydown",
    keys((event) => {
      const index = items.indexOf(/** @type {HTMLButtonElement} */ (focused()));
      const moves = /** @type {Record<string, number>} */ ({ ArrowUp: -1, ArrowDown: 1 });
      let next;
      if (event.key in moves) next = (index + moves[event.key] + items.length) % items.length;
      else if (event.key === "Home") next = 0;
      else if (event.key === "End") next = items.length - 1;
      else if (event.key === "Escape" || event.key === "Tab") {
        take(event);
        return close();
      } else return;
      take(event);
      items[next]?.focus();
    }),
  );
  const close = popOver(anchor, list);
  items[0]?.focus();
}

/**
 * Chooses one of many pictures by some letters, in a grid beside an element.
 * @param {HTMLElement} anchor
 * @param {{label: string, find: (query: string) => {emoji: string, name: string}[],
 *   isOn: (emoji: string) => boolean, act: (emoji: string) => void}} options
 */
export function chooseEmoji(anchor, { label, find, isOn, act }) {
  /** @type {{emoji: string, name: string}[]} */
  let shown = [];
  let index = 0;
  const grid = el("div", { class: "grid", role: "listbox", id: "emoji", "aria-label": label });
  const input = el("input", {
    type: "search",
    placeholder: "Name of an emoji",
    autocomplete: "off",
    spellcheck: false,
    role: "combobox",
    "aria-label": label,
    "aria-expanded": true,
    "aria-controls": "emoji",
    "aria-autocomplete": "list",
  });
  const box = el("div", { class: "menu emoji", role: "dialog", "aria-label": label }, input, grid);
  const select = (/** @type {number} */ next) => {
    grid.children[index]?.setAttribute("aria-selected", "false");
    index = Math.max(0, Math.min(shown.length - 1, next));
    const item = grid.children[index];
    item?.setAttribute("aria-selected", "true");
    item?.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", item?.id ?? "");
  };
  const choose = (/** @type {number} */ place) => {
    if (shown[place]) {
      close();
      act(shown[place].emoji);
    }
  };
  const update = () => {
    shown = find(input.value);
    grid.replaceChildren(
      ...shown.map(({ emoji, name }, place) =>
        el(
          "div",
          {
            role: "option",
            id: `emoji-${place}`,
            class: isOn(emoji) ? "on" : undefined,
            title: name.replaceAll("_", " "),
            "aria-label": `${name.replaceAll("_", " ")}${isOn(emoji) ? ", yours" : ""}`,
            "aria-selected": "false",
            on: { click: () => choose(place) },
          },
          emoji,
        ),
      ),
    );
    if (shown.length === 0) grid.append(el("p", { class: "nothing" }, "Nothing matches."));
    index = 0;
    select(0);
  };
  input.addEventListener("input", update);
  box.addEventListener(
    "keydown",
    keys((event) => {
      const columns = getComputedStyle(grid).gridTemplateColumns.split(" ").length;
      const moves = /** @type {Record<string, number>} */ ({
        ArrowUp: -columns,
        ArrowDown: columns,
        ArrowLeft: -1,
        ArrowRight: 1,
      });
      if (event.key in moves) select(index + moves[event.key]);
      else if (event.key === "Enter") choose(index);
      else if (event.key === "Escape" || event.key === "Tab") close();
      else return;
      take(event);
    }),
  );
  update(); // its size decides where it is put
  const close = popOver(anchor, box);
  // Without a keyboard, the one on the screen would cover half of it.
  const isCoarse = matchMedia("(pointer: coarse) and (hover: none)").matches;
  if (isCoarse) box.tabIndex = -1;
  (isCoarse ? box : input).focus();
}

/**
 * Asks a question.
 * @param {Node} near
 * @param {{title: string, text: string, confirm: string}} question
 * @returns {Promise<boolean>}
 */
export function ask(near, { title, text, confirm }) {
  return new Promise((resolve) => {
    let answer = false;
    const box = dialog(
      near,
      { class: "question", "aria-label": title },
      el("h2", {}, title),
      el("p", { dir: "auto" }, text),
      el(
        "div",
        { class: "buttons" },
        el(
          "button",
          { type: "button", class: "plain", on: { click: () => box.close() } },
          "Cancel",
        ),
        el(
          "button",
          {
            type: "button",
            class: "primary",
            autofocus: true,
            on: {
              click: () => {
                answer = true;
                box.close();
              },
            },
          },
          confirm,
        ),
      ),
    );
    box.addEventListener("close", () => resolve(answer));
  });
}

/**
 * Tells something that must be read.
 * @param {Node} near
 * @param {string} title
 * @param {string} text
 */
export function tell(near, title, text) {
  const box = show(
    near,
    title,
    el("p", {}, text),
    el(
      "div",
      { class: "buttons" },
      el(
        "button",
        { type: "button", class: "primary", autofocus: true, on: { click: () => box.close() } },
        "OK",
      ),
    ),
  );
}

/**
 * Shows something until it is closed.
 * @param {Node} near
 * @param {string} title
 * @param {...(Node | string)} children
 */
export function show(near, title, ...children) {
  const box = dialog(
    near,
    { class: "sheet", "aria-label": title },
    el(
      "header",
      {},
      el("h2", {}, title),
      el(
        "button",
        {
          type: "button",
          class: "icon-button",
          "aria-label": "Close",
          on: { click: () => box.close() },
        },
        icon("close"),
      ),
    ),
    ...children,
  );
  return box;
}

/**
 * Chooses one of many by some letters.
 * @template Choice
 * @param {Node} near
 * @param {{label: string, placeholder: string, choices: (query: string) => Choice[],
 *   search?: (query: string, signal: AbortSignal) => Promise<void>,
 *   view: (choice: Choice) => Node}} options
 * @returns {Promise<Choice | undefined>} the choice, or nothing
 */
export function choose(near, { label, placeholder, choices, search, view }) {
  return new Promise((resolve) => {
    /** @type {Choice | undefined} */
    let answer;
    let searching = new AbortController();
    /** @type {Choice[]} */
    let shown = [];
    let index = 0;
    const list = el("div", {
      class: "choices",
      role: "listbox",
      id: "choices",
      "aria-label": label,
    });
    const input = el("input", {
      type: "search",
      placeholder,
      autocomplete: "off",
      spellcheck: false,
      role: "combobox",
      "aria-label": label,
      "aria-expanded": true,
      "aria-controls": "choices",
      "aria-autocomplete": "list",
    });
    const box = dialog(near, { class: "switcher", "aria-label": label }, input, list);
    const select = (/** @type {number} */ next) => {
      index = Math.max(0, Math.min(shown.length - 1, next));
      for (const [place, item] of [...list.children].entries())
        item.setAttribute("aria-selected", String(place === index));
      const item = list.children[index];
      input.setAttribute("aria-activedescendant", item?.id ?? "");
      item?.scrollIntoView({ block: "nearest" });
    };
    const take = (/** @type {number} */ place) => {
      answer = shown[place];
      box.close();
    };
    const update = () => {
      shown = choices(input.value).slice(0, 50);
      list.replaceChildren(
        ...shown.map((choice, place) =>
          el(
            "div",
            {
              role: "option",
              id: `choice-${place}`,
              class: "choice",
              on: { click: () => take(place) },
            },
            view(choice),
          ),
        ),
      );
      if (shown.length === 0) list.append(el("p", { class: "nothing" }, "Nothing matches."));
      select(0);
    };
    input.addEventListener("input", () => {
      update();
      searching.abort();
      searching = new AbortController();
      const { signal } = searching;
      if (search && input.value.trim())
        search(input.value.trim(), signal).then(() => signal.aborted || update());
    });
    input.addEventListener(
      "keydown",
      keys((event) => {
        if (event.key === "ArrowDown") select(index + 1);
        else if (event.key === "ArrowUp") select(index - 1);
        else if (event.key === "PageDown") select(index + 8);
        else if (event.key === "PageUp") select(index - 8);
        else if (event.key === "Enter") {
          if (shown[index]) take(index);
        } else if (event.key === "Escape")
          box.close(); // and not first the text
        else return;
        event.preventDefault();
      }),
    );
    box.addEventListener("close", () => {
      searching.abort();
      resolve(answer);
    });
    update();
    input.focus();
  });
}
