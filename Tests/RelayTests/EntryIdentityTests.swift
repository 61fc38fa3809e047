import Testing

@testable import Relay

@Suite struct `An entry's identity, SipHash-2-4` {
  /// The paper's example, and the first of the vectors of its reference implementation.
  @Test func `equals the reference values`() throws {
    let key = try #require(EntryIdentity.Key(bytes: Array(0..<16)))
    var hasher = SipHash(key)
    for byte in 0..<15 as Range<UInt8> { hasher.combine(byte) }
    #expect(hasher.finish() == 0xA129_CA61_49BE_45E5)
    #expect(SipHash(key).finish() == 0x726F_DB47_DD0E_0E31)
    #expect(key.bytes == Array(0..<16))
    #expect(EntryIdentity.Key(bytes: Array(0..<15)) == nil)
  }

  @Test func `depends on where the sender's name ends`() {
    let key = EntryIdentity.Key(low: 1, high: 2)
    #expect(
      EntryIdentity(room: 1, sender: "ab", id: "c", key: key)
        != EntryIdentity(room: 1, sender: "a", id: "bc", key: key))
  }

  @Test func `depends on the key in all of its bits`() {
    var differing: UInt64 = 0
    for high in 0..<64 as Range<UInt64> {
      let key = EntryIdentity.Key(low: 1, high: high)
      let other = EntryIdentity.Key(low: 1, high: high + 1)
      differing |= UInt64(
        bitPattern: EntryIdentity(room: 1, sender: "a", id: "b", key: key).hash
          ^ EntryIdentity(room: 1, sender: "a", id: "b", key: other).hash)
    }
    #expect(differing == .max)
  }
}
