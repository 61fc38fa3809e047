// Lines over the last hour.

import { el } from "../dom.js";

const space = "http://www.w3.org/2000/svg";
const hourMs = 3_600_000;
const [width, height] = [600, 120];
/** A longer pause between two samples is a gap. */
const gapMs = 20_000;

/**
 * @typedef {{label: string, of: (sample: any) => number | undefined}} Line
 * @typedef {(value: number) => string} Format
 */

/**
 * @param {string} title
 * @param {{at: number}[]} samples in order
 * @param {Line[]} lines
 * @param {Format} format
 */
export function plot(title, samples, lines, format) {
  const end = samples.at(-1)?.at ?? 0;
  const values = lines.map(({ of }) => samples.map(of));
  const most = Math.max(0, ...values.flat().map((value) => value ?? 0));
  const top = most || 1;
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  const latest = lines.map(({ label }, index) => {
    const value = values[index].at(-1);
    return `${label} ${value === undefined ? "–" : format(value)}`;
  });
  svg.setAttribute(
    "aria-label",
    `${title} in the last hour: now ${latest.join(", ")}; at most ${format(most)}`,
  );
  for (const [index] of lines.entries()) {
    const path = document.createElementNS(space, "path");
    path.setAttribute("class", `line line-${index % 6}`);
    path.setAttribute("d", shape(samples, values[index], end, top));
    svg.append(path);
  }
  return el(
    "figure",
    { class: "plot" },
    el("figcaption", {}, title),
    el("div", { class: "scale", "aria-hidden": "true" }, format(most)),
    svg,
    el(
      "div",
      { class: "hour", "aria-hidden": "true" },
      el("span", {}, "an hour ago"),
      el("span", {}, "now"),
    ),
    el("ul", {}, ...latest.map((text, index) => el("li", { class: `key key-${index % 6}` }, text))),
  );
}

/**
 * @param {{at: number}[]} samples
 * @param {(number | undefined)[]} values
 * @param {number} end
 * @param {number} top
 */
function shape(samples, values, end, top) {
  let text = "";
  let last = -Infinity;
  for (const [index, { at }] of samples.entries()) {
    const value = values[index];
    if (value === undefined) continue;
    const x = width * (1 - (end - at) / hourMs);
    const y = height - 2 - (height - 4) * (value / top);
    text += `${at - last > gapMs ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
    last = at;
  }
  return text;
}

/** @type {Format} */
export const count = (value) =>
  value >= 100 || Number.isInteger(value) ? value.toFixed() : value.toFixed(1);

/** @type {Format} */
export const bytes = (value) => {
  let rest = value;
  for (const unit of ["bytes", "KiB", "MiB", "GiB"]) {
    if (rest < 1024) return `${count(rest)} ${unit}`;
    rest /= 1024;
  }
  return `${count(rest)} TiB`;
};
