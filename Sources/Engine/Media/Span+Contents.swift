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
}
