// Makes nodes. Text becomes a text node everywhere: nothing that others write is ever read as HTML.

/**
 * @typedef {{[Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => void}}
 *   Listeners
 */
/** @typedef {{on?: Listeners, [name: string]: unknown}} Properties */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties} [properties] `class`, `data-…`, `aria-…` and `role` are attributes; the others
 *   are properties of the element
 * @param {...(Node | string | null | undefined | false)} children
 */
export function el(tag, { on = {}, ...properties } = {}, ...children) {
  const element = document.createElement(tag);
  for (const [event, listener] of Object.entries(on))
    element.addEventListener(event, /** @type {EventListener} */ (listener));
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name === "class" || name === "role" || name.includes("-"))
      element.setAttribute(name, String(value));
    else Reflect.set(element, name, value);
  }
  element.append(...children.flatMap((child) => (child || child === "" ? [child] : [])));
  return element;
}

const paths = {
  send: "M3.4 20.6 21 12 3.4 3.4 3.4 10l12 2-12 2z",
  back: "M15 5l-7 7 7 7",
  up: "M6 15l6-6 6 6",
  down: "M6 9l6 6 6-6",
  close: "M6 6l12 12M18 6L6 18",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM20 20l-4.8-4.8",
  reply: "M10 8V4L3 11l7 7v-4c5 0 8 1.5 10 5 0-6-3-11-10-11z",
  smile: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM8.5 14.5c1.8 2.2 5.2 2.2 7 0M9 9.5v.6M15 9.5v.6",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  menu: "M4 7h16M4 12h16M4 17h16",
  attach:
    "M20 11.5l-8 8a5 5 0 0 1-7-7l8.5-8.5a3.4 3.4 0 0 1 4.8 4.8L10 17a1.7 1.7 0 0 1-2.4-2.4l7.4-7.4",
  microphone:
    "M12 15a3 3 0 0 0 3-3V6a3 3 0 0 0-6 0v6a3 3 0 0 0 3 3zM6 11.5a6 6 0 0 0 12 0M12 17.5V21",
  download: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  play: "M8 5v14l11-7z",
  pause: "M8 5v14M16 5v14",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2",
};
const filled = new Set(["send", "reply", "play"]);

/** @param {keyof typeof paths} name */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", filled.has(name) ? `icon icon-${name} filled` : `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", paths[name]);
  svg.append(path);
  return svg;
}

/**
 * A button with a picture and a name for those who do not see it.
 * @param {keyof typeof paths} picture
 * @param {string} label
 * @param {(event: Event) => void} act
 * @param {Properties} [properties]
 */
export function iconButton(picture, label, act, properties = {}) {
  return el(
    "button",
    {
      type: "button",
      class: "icon-button",
      title: label,
      "aria-label": label,
      on: { click: act },
      ...properties,
    },
    icon(picture),
  );
}

/**
 * A listener of `keydown`. While a composition is open, all keys are the input method's; Safari
 * reports its last one as 229.
 * @param {(event: KeyboardEvent) => void} act
 * @returns {(event: KeyboardEvent) => void}
 */
export const keys = (act) => (event) => {
  if (!event.isComposing && event.keyCode !== 229) act(event);
};

/**
 * The value of a field that is set before anything reads it.
 * @template T
 */
export const unset = () => /** @type {T} */ (/** @type {unknown} */ (undefined));

/** The focused element, also within a shadow root. */
export function focused() {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return /** @type {HTMLElement | null} */ (element);
}

/** How far from what is seen something is prepared, in pixels. */
const nearPixels = "800px";

/**
 * Acts once, when an element is about to be seen.
 * @param {Element} element @param {() => void} act
 */
export function whenNear(element, act) {
  const options = { rootMargin: nearPixels, scrollMargin: nearPixels };
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    act();
  }, options);
  observer.observe(element);
}
