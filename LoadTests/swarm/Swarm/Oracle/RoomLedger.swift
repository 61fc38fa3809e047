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
