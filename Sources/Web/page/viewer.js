// Pictures in full size, one after the other. Loaded when one is opened.

import { el, iconButton, keys } from "./dom.js";
import { download } from "./file-row.js";
import { plain } from "./format.js";
import { dialog } from "./opening.js";

/** @import { Message, SharedFile } from "./relay-client/types.js" */

const zoomLimit = 8;
const zoomStep = 1.5;

/**
 * @param {HTMLElement} near
 * @param {Message[]} messages those with pictures are shown
 * @param {number} seq the first one to show
 */
export function view(near, messages, seq) {
  const pictures = messages.filter(({ file }) => file?.thumbnail);
  let index = pictures.findIndex((message) => message.seq === seq);
  if (index < 0) return;
  let zoom = 1;
  let shift = { x: 0, y: 0 };
  /** @type {Map<number, PointerEvent>} */
  const pointers = new Map();
  const image = el("img", { draggable: false });
  const caption = el("p", { dir: "auto" });
  const stage = el("div", { class: "stage" }, image);
  const back = iconButton("back", "Previous picture", () => go(-1));
  const next = iconButton("back", "Next picture", () => go(1), { class: "icon-button next" });

  const place = () => {
    if (zoom === 1) shift = { x: 0, y: 0 };
    image.style.transform = `translate(${shift.x}px, ${shift.y}px) scale(${zoom})`;
  };
  const magnify = (/** @type {number} */ factor) => {
    zoom = Math.max(1, Math.min(zoomLimit, zoom * factor));
    place();
  };
  const show = async () => {
    const message = pictures[index];
    const file = /** @type {SharedFile} */ (message.file);
    zoom = 1;
    place();
    image.alt = plain(message.text || file.name);
    caption.textContent = plain(message.text || file.name);
    box.setAttribute("aria-label", `Picture ${index + 1} of ${pictures.length}: ${image.alt}`);
    back.disabled = index === 0;
    next.disabled = index === pictures.length - 1;
    const isShown = () => pictures[index] === message;
    try {
      // What is here already stands for it.
      const small = await file.thumbnailUrl();
      if (!isShown()) return;
      image.src = small;
      const whole = el("img", { src: await file.url() });
      await whole.decode();
      if (isShown()) image.src = whole.src;
    } catch {
      if (isShown()) box.classList.add("missing");
    }
  };
  const go = (/** @type {number} */ step) => {
    if (!pictures[index + step]) return;
    index += step;
    box.classList.remove("missing");
    show();
  };
  /** @type {Record<string, () => void>} */
  const acts = {
    ArrowLeft: () => go(-1),
    ArrowRight: () => go(1),
    "+": () => magnify(zoomStep),
    "=": () => magnify(zoomStep),
    "-": () => magnify(1 / zoomStep),
    0: () => magnify(0),
  };
  const box = dialog(
    near,
    {
      class: "viewer",
      on: {
        keydown: keys((event) => {
          if (!acts[event.key] || event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          acts[event.key]();
        }),
      },
    },
    el(
      "header",
      {},
      caption,
      iconButton("download", "Download", () => {
        const { file } = pictures[index];
        if (file) download(file, box);
      }),
      iconButton("close", "Close", () => box.close(), { autofocus: true }),
    ),
    back,
    stage,
    next,
  );
  stage.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      magnify(event.deltaY < 0 ? 1.1 : 1 / 1.1);
    },
    { passive: false },
  );
  stage.addEventListener("dblclick", () => magnify(zoom === 1 ? 2 * zoomStep : 0));
  // One finger moves, two pinch; one on a picture that is not magnified goes to the next.
  /** @type {{x: number, y: number} | undefined} */
  let began;
  const distance = () => {
    const [a, b] = [...pointers.values()];
    return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  };
  stage.addEventListener("pointerdown", (event) => {
    stage.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event);
    began = { x: event.clientX, y: event.clientY };
  });
  stage.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const span = pointers.size === 2 ? distance() : 0;
    pointers.set(event.pointerId, event);
    if (span > 0) magnify(distance() / span);
    else if (zoom > 1) {
      shift.x += event.clientX - before.clientX;
      shift.y += event.clientY - before.clientY;
      place();
    }
  });
  const end = (/** @type {PointerEvent} */ event) => {
    const dx = event.clientX - (began?.x ?? event.clientX);
    if (pointers.size === 1 && zoom === 1 && Math.abs(dx) > 60) go(dx > 0 ? -1 : 1);
    pointers.delete(event.pointerId);
    if (pointers.size > 0) began = undefined;
  };
  stage.addEventListener("pointerup", end);
  stage.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
  show();
}
