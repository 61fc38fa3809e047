// Sound and video in the conversation. Of sound, a button, and its waveform, which is also the place where one
// listens. Loaded with the first one.

import { el, icon, iconButton } from "./dom.js";
import { plain } from "./format.js";
import { report } from "./problems.js";
import { toldBy } from "./relay-client/errors.js";

/** @import { SharedFile } from "./relay-client/types.js" */

const barCount = 48;
const barHeight = 28;
/** To draw a waveform, sound is loaded and decoded as a whole: what is larger has a line instead. */
const decodedBytes = 1 << 20;
/** Of all channels: 128 MiB. */
const decodedSamples = 1 << 25;
/** The samples per second that are enough to see. */
const decodedRate = 8000;
/** A link lasts for a minute: what fails after half of it gets a new one. */
const renewedMs = 30_000;
const space = "http://www.w3.org/2000/svg";

/** What is heard: one at a time. @type {HTMLAudioElement | undefined} */
let heard;

/** @param {number} seconds */
export const clock = (seconds) =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

/**
 * The heights of the bars of sound, from 0 to 1.
 * @param {Float32Array} samples from -1 to 1
 * @param {number} [count] of bars
 */
export function peaks(samples, count = barCount) {
  const bars = Array.from({ length: count }, (_, bar) => {
    let peak = 0;
    const end = Math.floor(((bar + 1) * samples.length) / count);
    for (let at = Math.floor((bar * samples.length) / count); at < end; at++)
      peak = Math.max(peak, Math.abs(samples[at]));
    return peak;
  });
  // What was spoken softly is seen as well.
  const loudest = Math.max(...bars, 0.02);
  return bars.map((peak) => peak / loudest);
}

/**
 * Gives sound or video its address when it is needed, and another one where a link has expired.
 * @param {HTMLMediaElement} media @param {SharedFile} file
 */
export function source(media, file) {
  let givenAt = Number.NEGATIVE_INFINITY;
  const give = async () => {
    givenAt = performance.now();
    media.src = await file.url();
  };
  media.addEventListener("error", async () => {
    const { currentTime, paused } = media;
    try {
      if (performance.now() - givenAt < renewedMs) throw media.error;
      await give();
      media.currentTime = currentTime;
      if (!paused) await media.play();
    } catch (error) {
      report(error, media, `${plain(file.name)} cannot be played. Download it`);
    }
  });
  return { ready: async () => media.src || (await give()) };
}

const flat = /** @type {number[]} */ (new Array(barCount).fill(0));

/**
 * Only for one who plays the sound.
 * @param {SharedFile} file
 */
async function heights(file) {
  if (file.size > decodedBytes) return flat;
  try {
    const [{ samplesLimit }, answer] = await Promise.all([
      import("./sound-samples.js"),
      fetch(await file.url()),
    ]);
    const bytes = await answer.arrayBuffer();
    if (!(samplesLimit(bytes) <= decodedSamples)) return flat;
    const sound = await new OfflineAudioContext(1, 1, decodedRate).decodeAudioData(bytes);
    return peaks(sound.getChannelData(0));
  } catch {
    return flat; // a format that this browser cannot decode: the player says so
  }
}

/** @param {number[]} bars */
function waveform(bars) {
  const drawing = document.createElementNS(space, "svg");
  drawing.setAttribute("viewBox", `0 0 ${bars.length * 4} ${barHeight}`);
  drawing.setAttribute("preserveAspectRatio", "none");
  drawing.setAttribute("aria-hidden", "true");
  const shape = bars.map((height, bar) => {
    const long = Math.max(2, Math.round(height * barHeight));
    return `M${bar * 4 + 1} ${(barHeight - long) / 2}v${long}`;
  });
  for (const part of ["rest", "played"]) {
    const path = document.createElementNS(space, "path");
    path.setAttribute("class", part);
    path.setAttribute("d", shape.join(""));
    drawing.append(path);
  }
  return drawing;
}

/**
 * Fills the place of a file of sound, which has its size already.
 * @param {HTMLElement} place @param {SharedFile} file
 */
export function voice(place, file) {
  const name = plain(file.name);
  const audio = el("audio", { preload: "none" });
  const { ready } = source(audio, file);
  const seconds = () =>
    Number.isFinite(audio.duration) ? audio.duration : (file.durationMs ?? 0) / 1000;
  const time = el("span", { class: "time" });
  const position = el("input", {
    type: "range",
    min: 0,
    max: 1000,
    value: 0,
    dir: "ltr",
    "aria-label": `Position in ${name}`,
    on: {
      input: async () => {
        await ready();
        audio.currentTime = (Number(position.value) / 1000) * seconds();
      },
    },
  });
  const wave = el("div", { class: "wave" }, position);
  const button = iconButton("play", `Play ${name}`, () => toggle());
  place.append(audio, button, wave, time);

  const show = () => {
    const isPlaying = !audio.paused;
    button.replaceChildren(icon(isPlaying ? "pause" : "play"));
    const label = `${isPlaying ? "Pause" : "Play"} ${name}`;
    button.title = label;
    button.setAttribute("aria-label", label);
    const part = seconds() > 0 ? Math.min(1, audio.currentTime / seconds()) : 0;
    position.value = String(Math.round(part * 1000));
    wave.style.setProperty("--played", `${part * 100}%`);
    const isBegun = audio.currentTime > 0;
    time.textContent = clock(isBegun ? audio.currentTime : seconds());
    position.setAttribute("aria-valuetext", `${clock(audio.currentTime)} of ${clock(seconds())}`);
  };
  for (const event of ["play", "pause", "timeupdate", "durationchange", "seeked"])
    audio.addEventListener(event, show);
  audio.addEventListener(
    "play",
    async () => wave.firstElementChild?.replaceWith(waveform(await heights(file))),
    { once: true },
  );
  audio.addEventListener("ended", () => {
    audio.currentTime = 0;
  });

  async function toggle() {
    if (!audio.paused) return audio.pause();
    heard?.pause();
    heard = audio;
    await ready();
    toldBy("error", audio.play());
  }

  show();
  wave.prepend(waveform(flat));
}
