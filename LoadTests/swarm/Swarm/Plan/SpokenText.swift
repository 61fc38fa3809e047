import Mixing

/// What a send says: who, which number, when, and then as much as the plan wants, with bytes in it
/// that a careless relay would change.
enum SpokenText {
  private static let fillers = ["a", "k", "é", " ", "\"", "\\", "😀", "7", "/", "<", "日", "\n", "z"]

  /// - Parameters:
  ///   - at: the intended time, in nanoseconds from the run's start.
  ///   - bytes: the length; a text that cannot be so short is as long as it must be.
  static func text(
    user: String, _ send: Naming.SendID, at: UInt64, bytes: Int, seed: UInt64
  ) -> String {
    var text = "\(user) #\(send.number) @\(at / 1000)us "
    var random = SplitMix64(seed: seed ^ UInt64(send.client) << 32 ^ UInt64(send.number))
    text.reserveCapacity(bytes)
    var count = text.utf8.count
    while count < bytes {
      let filler = fillers[random.below(fillers.count)]
      // The last place is a letter: a relay may not like a text that ends blank.
      let fits = count + filler.utf8.count < bytes
      text += fits ? filler : "x"
      count += fits ? filler.utf8.count : 1
    }
    return text
  }

  /// A relay that alters a text does not do it so that the digest stays.
  static func digest(_ text: String) -> UInt64 { FNV1a.hash(text) }
}
