/// A fuzzer's input: a few bytes for choices, then the bytes that the parser is fed.
struct FuzzInput {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  /// The next byte for a choice; 0 at the end, so that short inputs are useful too.
  mutating func choice() -> UInt8 { rest.popFirst() ?? 0 }
}

/// Cuts a stream into pieces, some of them empty, most of them short; the same seed gives the same.
struct Cuts: Sequence, IteratorProtocol {
  private var rest: ArraySlice<UInt8>
  private var state: UInt32

  /// - Parameter seed: 0 leaves the stream whole, 1 cuts between any two bytes.
  init(_ bytes: ArraySlice<UInt8>, seed: UInt8) {
    rest = bytes
    state = UInt32(seed)
  }

  mutating func next() -> ArraySlice<UInt8>? {
    if rest.isEmpty { return nil }
    let length: Int
    switch state {
    case 0: length = rest.count
    case 1: length = 1
    default:
      // Numerical Recipes' generator: its high bits are good enough to cut by.
      state = state &* 1_664_525 &+ 1_013_904_223
      length = [0, 1, 1, 2, 3, 5, 8, 60][Int(state >> 29)]
      if state <= 1 { state = 2 }
    }
    defer { rest = rest.dropFirst(length) }
    return rest.prefix(length)
  }
}
