extension MediaType {
  /// The bytes of a file that decide; `sniff` reads no more.
  public static let headLimitBytes = 4096

  /// Returns the type of the file that begins with these bytes, its first `headLimitBytes` or all of them.
  ///
  /// Follows the signatures of the MIME Sniffing Standard where it has them. A container of sound and pictures
  /// is audio if the tracks that its head lists are all sound.
  public static func sniff(_ head: Span<UInt8>) -> MediaType {
    let head = head.extracting(first: headLimitBytes)
    return picture(head) ?? sound(head) ?? container(head) ?? (isText(head) ? .text : .other)
  }

  private static func picture(_ head: Span<UInt8>) -> MediaType? {
    if head.has([0xFF, 0xD8, 0xFF], at: 0) { return .jpeg }
    if head.has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], at: 0) { return .png }
    if head.has("RIFF", at: 0), head.has("WEBPVP8", at: 8) { return .webp }
    return nil
  }

  private static func sound(_ head: Span<UInt8>) -> MediaType? {
    if head.has("RIFF", at: 0), head.has("WAVE", at: 8) { return .wav }
    if head.has("fLaC", at: 0) { return .flac }
    if head.has("ID3", at: 0) { return .mp3 }
    guard head.count >= 4, head[0] == 0xFF else { return nil }
    // Without an ID3 tag: the header of a frame of MPEG layer III, or of ADTS, whose fields have values that mean
    // something.
    if head[1] & 0xE6 == 0xE2 {
      let (version, rate, frequency) = (head[1] >> 3 & 3, head[2] >> 4, head[2] >> 2 & 3)
      return version != 1 && 1...14 ~= rate && frequency != 3 ? .mp3 : nil
    }
    return head[1] & 0xF6 == 0xF0 && head[2] >> 2 & 15 < 13 ? .aac : nil
  }

  private static func container(_ head: Span<UInt8>) -> MediaType? {
    if head.has("OggS", at: 0) {
      // The first page has the header of one codec, after its 27 bytes and one of the segment table.
      if head.has("OpusHead", at: 28) || head.has("\u{1}vorbis", at: 28) { return .oggAudio }
      return head.has([0x80] + Array("theora".utf8), at: 28) ? .oggVideo : nil
    }
    if head.has([0x1A, 0x45, 0xDF, 0xA3], at: 0) {
      guard head.extracting(first: 64).contains("webm") else { return nil }
      let hasVideo = head.contains("V_VP") || head.contains("V_AV1")
      let hasAudio = head.contains("A_OPUS") || head.contains("A_VORBIS")
      return hasAudio && !hasVideo ? .webmAudio : .webmVideo
    }
    guard head.has("ftyp", at: 4) else { return nil }
    if head.has("M4A ", at: 8) || head.has("M4B ", at: 8) { return .mp4Audio }
    if head.has("qt  ", at: 8) { return .quickTime }
    let brands = ["isom", "iso2", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "M4V ", "dash"]
    guard brands.contains(where: { head.has($0, at: 8) }) else { return nil }
    // The handler of a track: of sound, or of video.
    return head.contains("soun") && !head.contains("vide") ? .mp4Audio : .mp4Video
  }

  /// Whether the bytes are UTF-8, apart from a character that is cut at their end, without control characters, and do
  /// not begin as HTML, SVG and XML do.
  private static func isText(_ head: Span<UInt8>) -> Bool {
    var first: UInt8?
    let start = head.has([0xEF, 0xBB, 0xBF], at: 0) ? 3 : 0
    for index in start..<head.count {
      let byte = head[index]
      let isSpace = byte == 0x20 || 0x09...0x0D ~= byte
      if byte < 0x20 && !isSpace || byte == 0x7F { return false }
      if first == nil, !isSpace { first = byte }
    }
    guard let first, first != UInt8(ascii: "<") else { return false }
    var whole = head.count
    // The last character may go on after the head: without its bytes the rest has to be whole.
    if head.count == headLimitBytes {
      while whole > head.count - 3, head[whole - 1] & 0xC0 == 0x80 { whole -= 1 }
      if head[whole - 1] >= 0xC0 { whole -= 1 } else { whole = head.count }
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(whole)
    for index in 0..<whole { bytes.append(head[index]) }
    return String(validating: bytes, as: UTF8.self) != nil
  }
}
