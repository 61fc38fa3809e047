// Draws a QR code that the relay has made: dark on light in any theme, for cameras.

import { plain } from "../format.js";

/** What a camera needs around it, in modules (ISO/IEC 18004, 9.1). */
const quietZone = 4;
/** The modules of the largest QR code, on each side. */
const largest = 177;

/**
 * @param {unknown} rows a text of 0 and 1 for each row
 * @param {string} link what it opens, for those who do not see it
 * @returns {SVGElement | undefined} nothing if these are no rows
 */
export function qrCode(rows, link) {
  if (!Array.isArray(rows) || rows.length === 0 || rows.length > largest) return undefined;
  const isRow = (/** @type {unknown} */ row) =>
    typeof row === "string" && row.length === rows.length && /^[01]+$/.test(row);
  if (!rows.every(isRow)) return undefined;
  const size = rows.length + 2 * quietZone;
  const code = svg("svg", {
    class: "qr",
    viewBox: `0 0 ${size} ${size}`,
    "shape-rendering": "crispEdges",
    role: "img",
    "aria-label": `QR code of ${plain(link)}`,
  });
  const runs = rows.flatMap((row, y) =>
    [...row.matchAll(/1+/g)].map(
      ({ index, 0: run }) =>
        `M${quietZone + index} ${quietZone + y}h${run.length}v1h-${run.length}z`,
    ),
  );
  code.append(
    svg("rect", { width: String(size), height: String(size), fill: "#fff" }),
    svg("path", { d: runs.join(""), fill: "#000" }),
  );
  return code;
}

/** @param {string} name @param {Record<string, string>} attributes */
function svg(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [attribute, value] of Object.entries(attributes))
    element.setAttribute(attribute, value);
  return /** @type {SVGElement} */ (element);
}
