// What is seen of a picture before it is loaded: its ThumbHash (https://evanw.github.io/thumbhash/),
// some 25 bytes. Loaded with the first picture.

import { el } from "./dom.js";

const side = 32;

/** How many waves a channel has in both directions. @param {number} nx @param {number} ny */
function* waves(nx, ny) {
  for (let y = 0; y < ny; y++)
    for (let x = y > 0 ? 0 : 1; x * ny < nx * (ny - y); x++) yield { x, y };
}

/**
 * The pixels of a hash.
 * @param {Uint8Array} hash
 * @returns {{width: number, height: number, pixels: Uint8ClampedArray<ArrayBuffer>} | undefined}
 *   undefined if it is none
 */
export function decoded(hash) {
  if (hash.length < 6) return undefined;
  const head = hash[0] | (hash[1] << 8) | (hash[2] << 16);
  const tail = hash[3] | (hash[4] << 8);
  const hasAlpha = head >> 23 > 0;
  const isLandscape = tail >> 15 > 0;
  const long = hasAlpha ? 5 : 7;
  const nx = Math.max(3, isLandscape ? long : tail & 7);
  const ny = Math.max(3, isLandscape ? tail & 7 : long);
  let place = 2 * (hasAlpha ? 6 : 5);
  const channel = (
    /** @type {number} */ mean,
    /** @type {number} */ scale,
    /** @type {number} */ nx,
    /** @type {number} */ ny,
  ) => {
    const terms = [...waves(nx, ny)].map(({ x, y }) => {
      const nibble = (hash[place >> 1] >> ((place++ & 1) << 2)) & 15;
      return { x, y, factor: (nibble / 7.5 - 1) * scale };
    });
    return (/** @type {number[]} */ fx, /** @type {number[]} */ fy) =>
      terms.reduce((sum, { x, y, factor }) => sum + factor * fx[x] * fy[y] * 2, mean);
  };
  const light = channel((head & 63) / 63, ((head >> 18) & 31) / 31, nx, ny);
  const yellow = channel(((head >> 6) & 63) / 31.5 - 1, (((tail >> 3) & 63) / 63) * 1.25, 3, 3);
  const red = channel(((head >> 12) & 63) / 31.5 - 1, (((tail >> 9) & 63) / 63) * 1.25, 3, 3);
  const alpha = hasAlpha ? channel((hash[5] & 15) / 15, (hash[5] >> 4) / 15, 5, 5) : () => 1;
  const ratio = nx / ny;
  const width = Math.round(ratio > 1 ? side : side * ratio);
  const height = Math.round(ratio > 1 ? side / ratio : side);
  const cosines = (/** @type {number} */ at, /** @type {number} */ size) =>
    Array.from({ length: 7 }, (_, n) => Math.cos((Math.PI / size) * (at + 0.5) * n));
  const pixels = new Uint8ClampedArray(4 * width * height);
  for (let y = 0, i = 0; y < height; y++) {
    const fy = cosines(y, height);
    for (let x = 0; x < width; x++, i += 4) {
      const fx = cosines(x, width);
      const [l, p, q] = [light(fx, fy), yellow(fx, fy), red(fx, fy)];
      const b = l - (2 / 3) * p;
      const r = (3 * l - b + q) / 2;
      pixels.set([255 * r, 255 * (r - q), 255 * b, 255 * alpha(fx, fy)], i);
    }
  }
  return { width, height, pixels };
}

/**
 * Draws a placeholder behind the picture of a frame.
 * @param {HTMLElement} frame @param {string} base64
 */
export function draw(frame, base64) {
  const image = decoded(bytesOf(base64));
  if (!image) return;
  const { width, height, pixels } = image;
  const canvas = el("canvas", { width, height, "aria-hidden": "true" });
  canvas.getContext("2d")?.putImageData(new ImageData(pixels, width, height), 0, 0);
  frame.prepend(canvas);
}

/** @param {string} base64 */
function bytesOf(base64) {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
