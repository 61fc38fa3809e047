// A voice message: recorded in a dialog, then a file as any other. Loaded when it is wanted.

import { el, iconButton } from "./dom.js";
import { dialog } from "./opening.js";
import { clock } from "./playing.js";
import { report } from "./problems.js";

/** The first one that the browser can record: all are Opus, but that of Safari. */
const types = ["audio/ogg;codecs=opus", "audio/webm;codecs=opus", "audio/mp4"];
const secondsLimit = 15 * 60;
const bitsPerSecond = 32_000;

/**
 * Records until one is done or has cancelled.
 * @param {HTMLElement} near
 * @param {(file: File) => void} take
 */
export async function record(near, take) {
  const type = types.find((one) => MediaRecorder.isTypeSupported(one));
  /** @type {MediaStream} */
  let stream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  } catch (error) {
    return report(
      error,
      near,
      "The microphone cannot be used. Allow it for this page in the browser",
    );
  }
  const recorder = new MediaRecorder(stream, {
    mimeType: type,
    audioBitsPerSecond: bitsPerSecond,
  });
  /** @type {Blob[]} */
  const parts = [];
  let isWanted = false;
  let seconds = 0;
  const time = el("p", { class: "time", role: "timer" }, clock(0));
  const done = el(
    "button",
    { type: "button", class: "primary", autofocus: true, on: { click: () => finish(true) } },
    "Done",
  );
  const box = dialog(
    near,
    { class: "recorder", "aria-label": "Recording a voice message" },
    time,
    done,
    iconButton("close", "Cancel the recording", () => finish(false)),
  );
  const counting = setInterval(() => {
    seconds += 1;
    time.textContent = clock(seconds);
    if (seconds >= secondsLimit) finish(true);
  }, 1000);
  const finish = (/** @type {boolean} */ isDone) => {
    isWanted = isDone;
    box.close();
  };
  box.addEventListener("close", () => {
    clearInterval(counting);
    recorder.stop();
    for (const track of stream.getTracks()) track.stop();
  });
  recorder.ondataavailable = ({ data }) => parts.push(data);
  recorder.onstop = () => {
    if (!isWanted) return;
    const [mediaType] = recorder.mimeType.split(";");
    const ending = mediaType.split("/")[1];
    take(new File(parts, `Voice message.${ending}`, { type: mediaType }));
  };
  recorder.start();
}
