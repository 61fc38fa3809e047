import Mixing

/// The text of a send: sender, number, time, and filler that includes bytes that a careless relay
/// would change.
enum MessageText {
  private static let fillers = ["a", "k", "é", " ", "\"", "\\", "😀", "7", "/", "<", "日", "\n", "z"]

  /// - Parameters:
  ///   - at: The intended time, in nanoseconds from the start of the run.
  ///   - bytes: The length; if it is too short for the fixed part, the text is longer.
  static func text(
    user: String, _ send: Naming.SendID, at: UInt64, bytes: Int, seed: UInt64
  ) -> String {
    var text = "\(user) #\(send.number) @\(at / 1000)us "
    var random = SplitMix64(seed: seed ^ UInt64(send.client) << 32 ^ UInt64(send.number))
    text.reserveCapacity(bytes)
    var count = text.utf8.count
    while count < bytes {
      let filler = fillers[random.below(fillers.count)]
      // The last character is a letter, because a relay may reject a text that ends with white
      // space.
      let fits = count + filler.utf8.count < bytes
      text += fits ? filler : "x"
      count += fits ? filler.utf8.count : 1
    }
    return text
  }

  /// A digest is sufficient: a relay that alters a text does not do so in a way that preserves it.
  static func digest(_ text: String) -> UInt64 { FNV1a.hash(text) }
}
