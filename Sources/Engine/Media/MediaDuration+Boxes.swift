// Formats whose parts are nested.
extension MediaDuration {
  /// The time of the movie header, which may come after the media (ISO 14496-12, section 8.2.2).
  static func mp4(_ source: MediaSource) -> Double? {
    var place: Int64 = 0
    for _ in 0..<boxesLimit {
      let head = source.bytes(at: place, count: 16)
      guard var size = head.span.big(0, bytes: 4) else { return nil }
      if size == 1 { size = head.span.big(8, bytes: 8) ?? 0 }
      if head.span.has("moov", at: 4) {
        let movie = source.bytes(at: place, count: headBytes / 2)
        return movieHeader(movie) ?? fragments(movie, source)
      }
      guard size >= 8, let length = Int64(exactly: size), length <= source.size - place else {
        return nil
      }
      place += length
    }
    return nil
  }

  /// A file has a box for each fragment.
  private static let boxesLimit = 1024

  private static func movieHeader(_ movie: [UInt8]) -> Double? {
    guard let place = movie.indices.first(where: { movie.span.has("mvhd", at: $0) }) else {
      return nil
    }
    // The version decides how long the times are.
    let isLong = movie.span.big(place + 4, bytes: 1) == 1
    let (times, width) = isLong ? (place + 24, 8) : (place + 16, 4)
    guard let rate = movie.span.big(times, bytes: 4), rate > 0,
      let duration = movie.span.big(times + 4, bytes: width), duration > 0,
      duration != (isLong ? .max : UInt64(UInt32.max))
    else { return nil }
    return Double(duration) / Double(rate)
  }

  // MARK: - WebM (RFC 9559)

  private enum Element {
    static let segment: UInt64 = 0x1853_8067
    static let info: UInt64 = 0x1549_A966
    static let timestampScale: UInt64 = 0x2A_D7B1
    static let duration: UInt64 = 0x4489
    static let cluster: UInt64 = 0x1F43_B675
    static let timestamp: UInt64 = 0xE7
    static let simpleBlock: UInt64 = 0xA3
    static let blockGroup: UInt64 = 0xA0
    static let block: UInt64 = 0xA1
  }

  /// The duration in the head; browsers that record do not know it yet, so else the time of the last block.
  static func webm(_ source: MediaSource) -> Double? {
    let head = source.bytes(at: 0, count: headBytes)
    var scale: UInt64 = 1_000_000
    var duration: Double?
    walk(head, from: 0, into: [Element.segment, Element.info]) { id, content in
      let number = head.span.big(content.lowerBound, bytes: content.count)
      switch (id, content.count) {
      case (Element.timestampScale, _): scale = number ?? scale
      case (Element.duration, 4):
        duration = number.map { Double(Float(bitPattern: UInt32(truncatingIfNeeded: $0))) }
      case (Element.duration, 8): duration = number.map { Double(bitPattern: $0) }
      default: break
      }
    }
    return (duration ?? lastBlock(source.end(endBytes))).map { $0 * Double(scale) / 1e9 }
  }

  private static func lastBlock(_ end: [UInt8]) -> Double? {
    guard
      let cluster = end.indices.last(where: { end.span.big($0, bytes: 4) == Element.cluster })
    else { return nil }
    var (start, last): (UInt64?, UInt64?)
    walk(end, from: cluster, into: [Element.cluster, Element.blockGroup]) { id, content in
      switch id {
      case Element.timestamp: start = end.span.big(content.lowerBound, bytes: content.count)
      case Element.simpleBlock, Element.block:
        // The number of the track takes a byte, in all that is recorded.
        guard let start, let since = end.span.big(content.lowerBound + 1, bytes: 2) else { return }
        last = max(last ?? 0, start &+ since)
      default: break
      }
    }
    return last.map { Double($0) }
  }

  /// Calls `take` with each element that is not to be entered. One whose size is not known is entered, or ends the walk.
  private static func walk(
    _ bytes: [UInt8], from start: Int, into entered: [UInt64],
    _ take: (_ id: UInt64, _ content: Range<Int>) -> Void
  ) {
    var place = start
    while let id = variable(bytes, at: place, keepsMarker: true),
      let size = variable(bytes, at: place + id.length, keepsMarker: false)
    {
      place += id.length + size.length
      if entered.contains(id.value) { continue }
      guard let length = Int(exactly: size.value), length <= bytes.count - place else { return }
      take(id.value, place..<place + length)
      place += length
    }
  }

  /// A number whose first bits tell how long it is (RFC 8794, section 4).
  private static func variable(
    _ bytes: [UInt8], at place: Int, keepsMarker: Bool
  ) -> (value: UInt64, length: Int)? {
    guard place < bytes.count else { return nil }
    let length = bytes[place].leadingZeroBitCount + 1
    guard length <= 8, let number = bytes.span.big(place, bytes: length) else { return nil }
    return (keepsMarker ? number : number & ((1 << UInt64(7 * length)) - 1), length)
  }
}
