/// The bytes of a file, read where they are wanted.
public struct MediaSource {
  /// In bytes.
  public let size: Int64
  private let read: (_ offset: Int64, _ count: Int) -> [UInt8]

  /// - Parameter read: returns the bytes from an offset on: as many as are wanted, or fewer at the end of the file.
  public init(size: Int64, read: @escaping (_ offset: Int64, _ count: Int) -> [UInt8]) {
    (self.size, self.read) = (size, read)
  }

  /// As many bytes as there are, up to `count`.
  func bytes(at offset: Int64, count: Int) -> [UInt8] {
    guard offset >= 0, offset < size else { return [] }
    return read(offset, min(count, Int(clamping: size - offset)))
  }

  /// The last bytes, up to `count`.
  func end(_ count: Int) -> [UInt8] { bytes(at: max(0, size - Int64(count)), count: count) }
}

extension MediaType {
  /// What `durationMilliseconds` reads of a file at most.
  public static let durationReadLimitBytes = MediaDuration.headBytes + MediaDuration.endBytes

  /// Returns how long sound or video lasts, in milliseconds; `nil` = not known.
  ///
  /// It is what a list shows before anything is played, so nothing is decoded: it is read from the headers, and where
  /// these do not say it, as in what browsers record, from the time of the last packet. Reads at most
  /// `durationReadLimitBytes`, whatever the file claims.
  public func durationMilliseconds(of source: MediaSource) -> Int64? {
    let seconds: Double? =
      switch self {
      case .wav: MediaDuration.wav(source)
      case .flac: MediaDuration.flac(source)
      case .mp3: MediaDuration.mp3(source)
      case .oggAudio: MediaDuration.ogg(source)
      case .webmAudio, .webmVideo: MediaDuration.webm(source)
      case .mp4Audio, .mp4Video, .quickTime: MediaDuration.mp4(source)
      default: nil
      }
    guard let seconds, seconds > 0, seconds < MediaDuration.limitSeconds else { return nil }
    return Int64((seconds * 1000).rounded())
  }
}

/// How long sound and video last, by format, in seconds.
enum MediaDuration {
  /// What claims to last longer is not believed.
  static let limitSeconds = 10.0 * 86_400
  static let headBytes = 1 << 16
  /// What a browser records has a cluster of WebM, or a page of Ogg, within that length.
  static let endBytes = 1 << 18
  /// Resource Interchange File Format: a chunk has a name of four characters and a size.
  static func wav(_ source: MediaSource) -> Double? {
    let head = source.bytes(at: 0, count: headBytes)
    var bytesPerSecond: UInt64?
    var place = 12
    while let size = head.span.little(place + 4, bytes: 4) {
      if head.span.has("fmt ", at: place) {
        bytesPerSecond = head.span.little(place + 16, bytes: 4)
      } else if head.span.has("data", at: place) {
        guard let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        return Double(min(Int64(size), source.size - Int64(place + 8))) / Double(bytesPerSecond)
      }
      place += 8 + Int(size) + Int(size % 2)
    }
    return nil
  }

  /// STREAMINFO comes first (RFC 9639, section 8.2): 20 bits of a sample rate, and after 8 bits 36 of a count of
  /// samples.
  static func flac(_ source: MediaSource) -> Double? {
    let head = source.bytes(at: 0, count: 42)
    guard let facts = head.span.big(18, bytes: 8) else { return nil }
    let (rate, samples) = (facts >> 44, facts & 0xF_FFFF_FFFF)
    return rate > 0 ? Double(samples) / Double(rate) : nil
  }

  /// The count of frames that encoders write into the first one ("Xing", "Info"); else all frames are taken to be as
  /// long as the first one.
  static func mp3(_ source: MediaSource) -> Double? {
    var start: Int64 = 0
    let tag = source.bytes(at: 0, count: 10)
    if tag.span.has("ID3", at: 0), tag.count == 10 {
      start = 10 + tag[6...].reduce(0) { $0 << 7 | Int64($1 & 0x7F) }
    }
    let frame = source.bytes(at: start, count: 256)
    guard frame.count > 4, frame[0] == 0xFF, frame[1] & 0xE6 == 0xE2 else { return nil }
    let (version, rate, frequency) = (frame[1] >> 3 & 3, Int(frame[2] >> 4), frame[2] >> 2 & 3)
    guard version != 1, frequency < 3, 1...14 ~= rate else { return nil }
    let isFirstVersion = version == 3
    let samplesPerSecond =
      [44_100.0, 48_000, 32_000][Int(frequency)] / (isFirstVersion ? 1 : version == 2 ? 2 : 4)
    let isMono = frame[3] >> 6 == 3
    let side = isFirstVersion ? (isMono ? 17 : 32) : isMono ? 9 : 17
    if frame.span.has("Xing", at: 4 + side) || frame.span.has("Info", at: 4 + side),
      let flags = frame.span.big(8 + side, bytes: 4), flags & 1 == 1,
      let frames = frame.span.big(12 + side, bytes: 4)
    {
      return Double(frames) * (isFirstVersion ? 1152 : 576) / samplesPerSecond
    }
    let kilobits =
      isFirstVersion
      ? [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320][rate - 1]
      : [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160][rate - 1]
    return Double(source.size - start) / Double(kilobits * 125)
  }

  /// The position of the last page of the first stream (RFC 3533, section 6), in samples: of Opus at 48 kHz after the
  /// pre-skip (RFC 7845, section 4).
  static func ogg(_ source: MediaSource) -> Double? {
    let head = source.bytes(at: 0, count: 64)
    guard let stream = head.span.little(14, bytes: 4) else { return nil }
    let isOpus = head.span.has("OpusHead", at: 28)
    let rate = isOpus ? 48_000 : head.span.little(40, bytes: 4)
    guard let rate, rate > 0 else { return nil }
    let skipped = isOpus ? head.span.little(38, bytes: 2) : 0
    let end = source.end(endBytes)
    guard
      let page = end.indices.last(where: {
        end.span.has("OggS", at: $0) && end.span.little($0 + 14, bytes: 4) == stream
          && end.span.little($0 + 6, bytes: 8) != .max
      }), let position = end.span.little(page + 6, bytes: 8), let skipped, position > skipped
    else { return nil }
    return Double(position - skipped) / Double(rate)
  }
}
