extension Span<UInt8> {
  /// Whether these bytes are at a place.
  public func has(_ bytes: some Collection<UInt8>, at place: Int) -> Bool {
    guard count >= place + bytes.count else { return false }
    return bytes.enumerated().allSatisfy { self[place + $0] == $1 }
  }

  /// Whether these characters are at a place.
  public func has(_ text: String, at place: Int) -> Bool { has(text.utf8, at: place) }

  /// Whether these characters are anywhere.
  public func contains(_ text: String) -> Bool {
    (0..<Swift.max(0, count - text.utf8.count + 1)).contains { has(text, at: $0) }
  }

  /// The number at a place, most significant byte first; `nil` if the bytes end before, or it has more than 8.
  func big(_ place: Int, bytes length: Int) -> UInt64? {
    guard 0...8 ~= length, place >= 0, place <= count - length else { return nil }
    return (place..<place + length).reduce(0) { $0 << 8 | UInt64(self[$1]) }
  }

  /// The number at a place, least significant byte first; `nil` if the bytes end before.
  func little(_ place: Int, bytes length: Int) -> UInt64? {
    big(place, bytes: length).map { $0.byteSwapped >> UInt64(64 - 8 * length) }
  }
}
