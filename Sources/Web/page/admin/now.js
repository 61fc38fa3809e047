// What the relay does, over the last hour.

import { el } from "../dom.js";
import { messageOf } from "../problems.js";
import { bytes, count, plot } from "./plot.js";

/** @import { Access } from "./access.js" */

/** @param {HTMLElement} place @param {Access} access @param {AbortSignal} signal */
export async function show(place, access, signal) {
  const note = el("p", { class: "problem", role: "alert" });
  const plots = el("div", { class: "plots" });
  place.append(note, plots);
  /** @type {any[]} */
  let samples = [];
  while (!signal.aborted) {
    let pauseMs = 5000;
    try {
      const answer = await access.request("GET", `v1/samples?after=${samples.at(-1)?.at ?? 0}`);
      pauseMs = answer.interval_ms;
      samples = [...samples, ...answer.samples].slice(-answer.limit);
      note.textContent = samples.length > 0 ? "" : "The relay has not measured anything yet.";
      if (signal.aborted) return;
      if (answer.samples.length > 0) plots.replaceChildren(...drawn(samples));
    } catch (error) {
      note.textContent = messageOf(error);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** @param {any[]} samples */
function drawn(samples) {
  const threads = busiest(samples);
  const ms = (/** @type {number} */ value) => `${count(value)} ms`;
  const cores = (/** @type {number} */ value) => `${count(100 * value)} %`;
  return [
    plot(
      "Entries per second",
      samples,
      [
        { label: "stored", of: (sample) => sample.entries_per_s },
        { label: "delivered", of: (sample) => sample.deliveries_per_s },
      ],
      count,
    ),
    plot(
      "Connections",
      samples,
      [
        { label: "connections", of: (sample) => sample.connections },
        { label: "lagging subscriptions", of: (sample) => sample.lagging_subscriptions },
      ],
      count,
    ),
    plot(
      "Time until a message is acknowledged",
      samples,
      [
        { label: "half of them", of: (sample) => sample.ack_ms?.p50 },
        { label: "99 %", of: (sample) => sample.ack_ms?.p99 },
      ],
      ms,
    ),
    plot(
      "Processor by thread, of one core: the busiest",
      samples,
      threads.map((name) => ({ label: name, of: (sample) => sample.cpu[name] })),
      cores,
    ),
    plot(
      "Memory",
      samples,
      [
        { label: "resident", of: (sample) => sample.memory_bytes },
        { label: "queued for connections", of: (sample) => sample.queued_bytes },
      ],
      bytes,
    ),
    plot(
      "Free on the disk of the store",
      samples,
      [{ label: "free", of: (sample) => sample.disk_free_bytes }],
      bytes,
    ),
    plot(
      "Files that users have uploaded",
      samples,
      [{ label: "stored", of: (sample) => sample.files_bytes }],
      bytes,
    ),
  ];
}

/** As many as there are colors. */
const threadsLimit = 6;

/**
 * The threads that have used most of a core at some time of the hour, in the order of their names.
 * @param {any[]} samples
 */
function busiest(samples) {
  /** @type {Map<string, number>} */
  const most = new Map();
  for (const { cpu } of samples) {
    for (const [name, share] of Object.entries(cpu))
      most.set(name, Math.max(share, most.get(name) ?? 0));
  }
  const sorted = [...most].sort(([, a], [, b]) => b - a).map(([name]) => name);
  return sorted.slice(0, threadsLimit).sort();
}
