// How much memory sound takes once it is decoded, found without decoding it: 60 KB of empty packets are an hour, of
// more than 1 GB. Loaded with the first sound that is played.

/** Those of a packet of Opus at 48 kHz, at most (RFC 6716, section 2.1.4). */
const opusPacketSamples = 5760;
/** Those of a frame of AAC (HE-AAC doubles 1024), and its channels, at most. */
const aacSamples = 2048 * 8;

/**
 * Returns the most samples, of all channels, to which a file can be decoded; infinite if that is not known: it is no
 * Ogg or WebM with Opus, and no MP4 with AAC, which browsers record, or is damaged.
 * @param {ArrayBuffer} bytes
 */
export function samplesLimit(bytes) {
  const view = new DataView(bytes);
  try {
    switch (view.getUint32(0)) {
      case 0x4f676753: // OggS
        return ogg(view);
      case 0x1a45dfa3: // EBML
        return webm(view);
    }
    return view.getUint32(4) === 0x66747970 /* ftyp */ ? mp4(view) : Number.POSITIVE_INFINITY;
  } catch (error) {
    // It ends where it should go on.
    if (error instanceof RangeError) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** The samples of a packet by its first two bytes (RFC 6716, section 3.1). @param {DataView} view @param {number} place */
function opus(view, place) {
  const first = view.getUint8(place);
  const form = first >> 3;
  const perFrame =
    form < 12
      ? [480, 960, 1920, 2880][form & 3]
      : form < 16
        ? [480, 960][form & 1]
        : [120, 240, 480, 960][form & 3];
  const frames = [1, 2, 2, 0][first & 3] || view.getUint8(place + 1) & 63;
  return Math.min(frames * perFrame, opusPacketSamples);
}

/** The channels by the head of Opus (RFC 7845, section 5.1). @param {DataView} view @param {number} place */
const opusChannels = (view, place) =>
  view.getUint32(place) === 0x4f707573 && view.getUint32(place + 4) === 0x48656164
    ? Math.max(1, view.getUint8(place + 9))
    : Number.POSITIVE_INFINITY;

/** Pages of one stream, whose segments make packets (RFC 3533, section 6). @param {DataView} view */
function ogg(view) {
  const stream = view.getUint32(14);
  const channels = opusChannels(view, 28);
  let samples = 0;
  // What goes on beyond the end is read nevertheless, and fails.
  for (let page = 0; page !== view.byteLength; ) {
    if (view.getUint32(page) !== 0x4f676753 || view.getUint32(page + 14) !== stream)
      return Number.POSITIVE_INFINITY;
    const segments = view.getUint8(page + 26);
    let place = page + 27 + segments;
    let begins = (view.getUint8(page + 5) & 1) === 0;
    for (let segment = 0; segment < segments; segment++) {
      const length = view.getUint8(page + 27 + segment);
      if (begins && length > 0) samples += opus(view, place);
      begins = length < 255;
      place += length;
    }
    page = place;
  }
  return samples * channels;
}

/** Segment, Tracks, TrackEntry, Audio, Cluster, BlockGroup. */
const entered = [0x18538067, 0x1654ae6b, 0xae, 0xe1, 0x1f43b675, 0xa0];

/** The blocks of all tracks (RFC 9559, section 5.1). @param {DataView} view */
function webm(view) {
  let samples = 0;
  let channels = 0;
  for (let place = 0; place !== view.byteLength; ) {
    const id = variable(view, place);
    const size = variable(view, place + id.length);
    place += id.length + size.length;
    if (entered.includes(id.marked)) continue;
    switch (id.marked) {
      case 0x6d80: // ContentEncodings: the packets are others
        return Number.POSITIVE_INFINITY;
      case 0x63a2: // CodecPrivate
        channels = Math.max(channels, opusChannels(view, place));
        break;
      case 0x9f: // Channels
        for (let byte = 0, count = 0; byte < size.value; byte++) {
          count = count * 256 + view.getUint8(place + byte);
          channels = Math.max(channels, count);
        }
        break;
      case 0xa1: // Block
      case 0xa3: {
        // SimpleBlock
        const head = place + variable(view, place).length + 2;
        // Laced: a block of several packets.
        if (view.getUint8(head) & 6) return Number.POSITIVE_INFINITY;
        samples += opus(view, head + 1);
      }
    }
    place += size.value;
  }
  return channels > 0 ? samples * channels : Number.POSITIVE_INFINITY;
}

/** A number whose first bits tell how long it is (RFC 8794, section 4). @param {DataView} view @param {number} place */
function variable(view, place) {
  const first = view.getUint8(place);
  const length = Math.clz32(first) - 23;
  if (length > 8) throw new RangeError("no number");
  let marked = first;
  let value = first & (0xff >> length);
  for (let byte = 1; byte < length; byte++) {
    const next = view.getUint8(place + byte);
    [marked, value] = [marked * 256 + next, value * 256 + next];
  }
  return { length, marked, value };
}

/** @param {string} name */
const code = (name) => [...name].reduce((sum, one) => sum * 256 + one.charCodeAt(0), 0);
const enteredBoxes = ["moov", "trak", "mdia", "minf", "stbl", "moof", "traf"].map(code);

/** The counts of samples in all tables and fragments (ISO 14496-12, sections 8.7.3 and 8.8.8). @param {DataView} view */
function mp4(view) {
  let samples = 0;
  for (let place = 0; place !== view.byteLength; ) {
    const size = view.getUint32(place);
    const name = view.getUint32(place + 4);
    if (size < 8) return Number.POSITIVE_INFINITY;
    if (name === code("stsd") && view.getUint32(place + 20) !== code("mp4a"))
      return Number.POSITIVE_INFINITY;
    if (name === code("stsz") || name === code("stz2")) samples += view.getUint32(place + 16);
    if (name === code("trun")) samples += view.getUint32(place + 12);
    place += enteredBoxes.includes(name) ? 8 : size;
  }
  return samples * aacSamples;
}
