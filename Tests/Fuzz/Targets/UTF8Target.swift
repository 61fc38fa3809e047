import WebSocket

/// Input: a byte that cuts, then text.
enum UTF8Target {
  /// One of these completes any truncated sequence that may still become valid.
  private static let endings: [[UInt8]] = [
    [], [0x80], [0xBF], [0x80, 0x80], [0xBF, 0x80], [0x80, 0x80, 0x80], [0xBF, 0x80, 0x80],
  ]

  static func check(_ input: inout FuzzInput) throws(FuzzFinding) {
    let seed = input.choice()
    let text = Array(input.rest)
    var validator = UTF8Validator()
    var taken = 0
    for piece in Cuts(text[...], seed: seed) {
      let isPossible = validator.accept(Array(piece).span)
      taken += piece.count
      let front = Array(text[..<taken])
      let isWhole = isValid(front)
      try expect(
        isPossible == Self.endings.contains { isValid(front + $0) },
        "after \(taken) bytes the text \(isPossible ? "may go on" : "is refused")")
      guard isPossible else { return }
      try expect(validator.isComplete == isWhole, "complete after \(taken) bytes: \(!isWhole)")
    }
  }

  private static func isValid(_ bytes: [UInt8]) -> Bool {
    String(validating: bytes, as: UTF8.self) != nil
  }
}
