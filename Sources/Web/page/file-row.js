// The file of a message in its row. Its place has its size before anything is loaded.

import { el, iconButton, whenNear } from "./dom.js";
import { plain } from "./format.js";
import { load, report } from "./problems.js";

/** @import { SharedFile } from "./relay-client/types.js" */
/** @import { Context, Shown } from "./row.js" */

/** No picture is wider or higher, in pixels. */
const sideLimit = 320;
/** Of a picture whose size is not known yet, since it is on its way. */
const unknownSize = { width: 240, height: 180 };
/** Pictures that a browser shows by itself: others are shown once the relay has made some of them. */
const shownTypes = /^image\/(png|jpeg|webp|gif)$/;
/** How often a picture is asked for, and after which pause: one that many others came before may have been refused. */
const attemptsLimit = 2;
const pauseMs = 2000;

/** What is drawn already: it stays while its row is drawn again. @type {WeakMap<HTMLElement, Drawn>} */
const drawn = new WeakMap();
/** @typedef {{of: unknown, element: HTMLElement}} Drawn */

const playing = () => import("./playing.js");

/** @param {Pick<Shown, "file" | "name">} message */
export const fileName = ({ file, name }) => plain(file?.name ?? name ?? "File");

/** @param {number} bytes */
export function sizeText(bytes) {
  const units = ["bytes", "KB", "MB", "GB"];
  let unit = 0;
  for (; bytes >= 1000 && unit < 3; unit++) bytes /= 1000;
  return `${unit === 0 || bytes >= 10 ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`;
}

/**
 * The element of a file.
 * @param {HTMLElement} row @param {Shown} message @param {Context} context
 */
export function fileElement(row, message, context) {
  const of = message.file?.id ?? message.upload ?? message.id;
  const known = drawn.get(row);
  if (known?.of === of) return known.element;
  const element = message.file ? shared(message, message.file, context) : waiting(message, context);
  drawn.set(row, { of, element });
  return element;
}

/** @param {Shown} message @param {SharedFile} file @param {Context} context */
function shared(message, file, context) {
  if (file.thumbnail) return picture(message, file, context);
  if (file.mediaType.startsWith("audio/")) return sound(file);
  if (file.mediaType.startsWith("video/")) return video(file);
  return el(
    "button",
    {
      type: "button",
      class: "file",
      tabIndex: -1,
      title: "Download",
      on: { click: (event) => download(file, /** @type {HTMLElement} */ (event.currentTarget)) },
    },
    ...title(file.name, file.size),
  );
}

/** @param {string} name @param {number} [size] */
const title = (name, size) => [
  el("b", { dir: "auto" }, plain(name)),
  el("span", {}, size === undefined ? "" : sizeText(size)),
];

/** @param {HTMLElement} element @param {{width?: number, height?: number}} size */
function reserve({ style }, { width = unknownSize.width, height = unknownSize.height }) {
  const scale = Math.min(1, sideLimit / width, sideLimit / height);
  style.width = `${Math.max(48, Math.round(width * scale))}px`;
  style.aspectRatio = `${Math.max(48, width * scale)} / ${Math.max(48, height * scale)}`;
}

/** @param {Shown} message @param {SharedFile} file @param {Context} context */
function picture(message, file, context) {
  const { thumbnail, width = thumbnail?.width, height = thumbnail?.height } = file;
  const image = el("img", { alt: plain(file.name), decoding: "async" });
  const frame = el(
    "button",
    {
      type: "button",
      class: "picture",
      tabIndex: -1,
      on: { click: () => context.act("view", message.seq) },
    },
    image,
  );
  reserve(frame, { width, height });
  let attempts = 0;
  const ask = () => {
    attempts++;
    file.thumbnailUrl().then(
      (url) => {
        image.src = url;
      },
      () => image.dispatchEvent(new Event("error")),
    );
  };
  image.addEventListener("error", () => {
    if (attempts < attemptsLimit) setTimeout(ask, pauseMs);
    else frame.classList.add("missing");
  });
  // Addresses do not last, requests per second are limited, and many placeholders at once take a frame or two.
  whenNear(frame, () => {
    load(() => import("./placeholder.js")).then(({ draw }) =>
      draw(frame, thumbnail?.placeholder ?? ""),
    );
    ask();
  });
  return frame;
}

/** @param {SharedFile} file */
function sound(file) {
  const place = el("div", { class: "voice", role: "group", "aria-label": plain(file.name) });
  load(playing, place).then(({ voice }) => voice(place, file));
  if (file.name.startsWith("Voice message.")) return place;
  return el("div", {}, place, el("span", { class: "sound-name", dir: "auto" }, plain(file.name)));
}

/** @param {SharedFile} file */
function video(file) {
  const element = el("video", { controls: true, preload: "none", "aria-label": plain(file.name) });
  reserve(element, file);
  load(playing, element).then(({ source }) => source(element, file).ready());
  return element;
}

/** A file on its way, with a button that ends that. @param {Shown} message @param {Context} context */
function waiting(message, context) {
  const { id, upload, name = "" } = message;
  const isPicture = upload !== undefined && shownTypes.test(upload.type);
  const image = isPicture && el("img", { alt: plain(name) });
  const progress = el("progress", { max: 1, value: 0, "aria-label": `Upload of ${plain(name)}` });
  const bar = el(
    "span",
    { class: "upload" },
    progress,
    iconButton("close", `Do not send ${plain(name)}`, () => context.act("discard", id), {
      class: "icon-button stop",
    }),
  );
  if (!image) return el("div", { class: "file" }, ...title(name, upload?.size), bar);
  const frame = el("div", { class: "picture" }, image);
  reserve(frame, {});
  const url = URL.createObjectURL(upload);
  image.addEventListener("load", () => URL.revokeObjectURL(url), { once: true });
  image.src = url;
  frame.append(bar);
  return frame;
}

/** @param {HTMLElement} row @param {{sent: number, size: number}} progress of its upload */
export function showProgress(row, { sent, size }) {
  const bar = row.querySelector("progress");
  if (bar) bar.value = size > 0 ? sent / size : 1;
}

/**
 * Waits until an address answers: of a download that is refused, since requests per second are limited, no page is told.
 * @param {string} url
 */
async function isThere(url) {
  for (let attempts = 1; ; attempts++) {
    const { ok, status } = await fetch(url, { method: "HEAD" }).catch(() => Response.error());
    if (ok) return;
    if (attempts === attemptsLimit)
      throw new Error(status ? `HTTP ${status}` : "There is no answer.");
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** @param {SharedFile} file @param {HTMLElement} near */
export async function download(file, near) {
  try {
    const href = await file.url(file.name);
    await isThere(href);
    el("a", { href, download: file.name, rel: "noopener" }).click();
  } catch (error) {
    report(error, near, "The file cannot be downloaded");
  }
}
