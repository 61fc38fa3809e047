extension [UInt8] {
  /// Appends a copy of `bytes`, growing as `append` does and not to the exact size.
  mutating func append(copying bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }

  /// A copy of `bytes`.
  init(copying bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
  }
}

extension String {
  /// The text in `bytes`, with U+FFFD for what is not UTF-8.
  init(decoding bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
