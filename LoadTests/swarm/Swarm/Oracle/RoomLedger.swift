import Mixing

/// One room's log as its receivers have seen it, by number.
struct RoomLedger: Sendable {
  /// A digest of an entry: there are millions, so nothing else is stored.
  struct Slot: Equatable, Sendable {
    var client: Int32
    var number: Int32
    /// The digest of the text as delivered.
    var digest: UInt64
    var at: Int64

    var send: Naming.SendID { .init(client: Int(client), number: Int(number)) }
  }

  /// By seq - 1; `nil` if no receiver has seen the entry.
  private(set) var slots: [Slot?] = []
  /// The last entry that a fresh reader found; `nil` before that.
  var readBack: Int64?
  /// The oldest entry that the relay still has.
  var first: Int64 = 1
  /// The number that every receiver should reach: the highest that any has seen, of the entries that
  /// the log has not lost as far as a receiver was told.
  var expected: Int64 = 0
  /// The other entries that had a number, in a log that forks.
  private var others: [Int64: [Slot]] = [:]

  /// The highest number that any receiver has seen.
  var head: Int64 { Int64(slots.count) }

  subscript(seq: Int64) -> Slot? {
    get { seq >= 1 && seq <= head ? slots[Int(seq) - 1] : nil }
    set {
      if seq > head {
        slots.append(contentsOf: repeatElement(nil, count: Int(seq - head)))
      }
      slots[Int(seq) - 1] = newValue
    }
  }

  /// Returns which of the entries with this number it is: 0 for the first that was seen. Adds it if it
  /// is new.
  mutating func version(of slot: Slot, at seq: Int64) -> UInt8 {
    guard let first = self[seq] else {
      self[seq] = slot
      return 0
    }
    if first == slot { return 0 }
    let known = others[seq, default: []]
    if let index = known.firstIndex(of: slot) { return UInt8(clamping: index + 1) }
    others[seq] = known + [slot]
    return UInt8(clamping: known.count + 1)
  }

  /// Returns the entry with a number that `version` has returned.
  func entry(_ seq: Int64, version: UInt8) -> Slot? {
    version == 0 ? self[seq] : others[seq].map { $0[Int(version) - 1] }
  }

  /// Makes the log what a reader has found in the end.
  mutating func replace(by entries: [Slot?]) { slots = entries }

  /// A digest of the whole log: rooms with the same digest have the same entries in the same order.
  var digest: UInt64 {
    var digest = FNV1a.offsetBasis
    func mix(_ value: UInt64) { digest = (digest ^ value) &* 0x9E37_79B9_7F4A_7C15 }
    for slot in slots {
      mix(UInt64(bitPattern: Int64(slot?.client ?? -1)) << 32 ^ UInt64(slot?.number.magnitude ?? 0))
      mix(slot?.digest ?? 0)
      digest ^= digest >> 29
    }
    return digest
  }
}
