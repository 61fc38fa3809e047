// Fragmented movies, as browsers record them: no header knows how long they last (ISO 14496-12, section 8.8).
extension MediaDuration {
  /// The end of the last fragment, on its first track.
  static func fragments(_ movie: [UInt8], _ source: MediaSource) -> Double? {
    let end = source.end(endBytes)
    guard let place = end.indices.last(where: { end.span.has("moof", at: $0) }) else { return nil }
    var (track, begin): (UInt64?, UInt64?)
    // In the units of the track: of each sample, if the run does not say it, and of all.
    var (usual, length): (UInt64?, Double?)
    boxes(end, from: place + 4, into: ["traf"]) { name, content in
      let start = content.lowerBound
      guard let head = end.span.big(start, bytes: 4) else { return }
      switch name {
      case "tfhd" where track == nil:
        track = end.span.big(start + 4, bytes: 4)
        let skipped = (head & 1 != 0 ? 8 : 0) + (head & 2 != 0 ? 4 : 0)
        if head & 8 != 0 { usual = end.span.big(start + 8 + skipped, bytes: 4) }
      case "tfdt" where begin == nil:
        begin = end.span.big(start + 4, bytes: head >> 24 == 1 ? 8 : 4)
      case "trun" where length == nil:
        length = run(end, content, head, usual: usual ?? track.flatMap { usualOf($0, movie) })
      default: break
      }
    }
    guard let track, let begin, let length, let rate = rate(of: track, movie), rate > 0 else {
      return nil
    }
    return (Double(begin) + length) / Double(rate)
  }

  /// Returns how long the samples of a run last.
  private static func run(
    _ bytes: [UInt8], _ content: Range<Int>, _ flags: UInt64, usual: UInt64?
  ) -> Double? {
    guard let count = bytes.span.big(content.lowerBound + 4, bytes: 4) else { return nil }
    guard flags & 0x100 != 0 else { return usual.map { Double($0) * Double(count) } }
    let width = [0x100, 0x200, 0x400, 0x800].reduce(0) { $0 + (flags & $1 != 0 ? 4 : 0) }
    var place = content.lowerBound + 8 + (flags & 1 != 0 ? 4 : 0) + (flags & 4 != 0 ? 4 : 0)
    var sum = 0.0
    for _ in 0..<count {
      guard place + width <= content.upperBound, let time = bytes.span.big(place, bytes: 4) else {
        return nil
      }
      sum += Double(time)
      place += width
    }
    return sum
  }

  /// The units of a track in a second.
  private static func rate(of track: UInt64, _ movie: [UInt8]) -> UInt64? {
    var (isIt, rate) = (false, UInt64?.none)
    boxes(movie, from: 8, into: ["trak", "mdia"]) { name, content in
      let start = content.lowerBound
      // The version decides how long the times before it are.
      let times = movie.span.big(start, bytes: 1) == 1 ? 16 : 8
      if name == "tkhd" { isIt = movie.span.big(start + 4 + times, bytes: 4) == track }
      if name == "mdhd", isIt, rate == nil { rate = movie.span.big(start + 4 + times, bytes: 4) }
    }
    return rate
  }

  /// How long a sample of a track lasts if no fragment says it.
  private static func usualOf(_ track: UInt64, _ movie: [UInt8]) -> UInt64? {
    var usual: UInt64?
    boxes(movie, from: 8, into: ["mvex"]) { name, content in
      let start = content.lowerBound
      guard name == "trex", movie.span.big(start + 4, bytes: 4) == track else { return }
      usual = movie.span.big(start + 12, bytes: 4)
    }
    return usual
  }

  /// Calls `take` with each box that is not to be entered, and what it has.
  private static func boxes(
    _ bytes: [UInt8], from start: Int, into entered: [String],
    _ take: (_ name: String, _ content: Range<Int>) -> Void
  ) {
    var place = start
    while let size = bytes.span.big(place, bytes: 4), place + 8 <= bytes.count {
      let name = String(decoding: bytes[place + 4..<place + 8], as: UTF8.self)
      if entered.contains(name) {
        place += 8
        continue
      }
      guard size >= 8, let length = Int(exactly: size) else { return }
      take(name, place + 8..<min(place + length, bytes.count))
      place += length
    }
  }
}
