import Mixing

/// One room's log as its receivers have seen it: what stands under each number.
struct RoomLedger: Sendable {
  /// What is known of an entry. Only this is kept of it, since there are millions.
  struct Slot: Equatable, Sendable {
    var client: Int32
    var number: Int32
    /// Of the text as it was delivered.
    var digest: UInt64
    var at: Int64

    var send: Naming.SendID { .init(client: Int(client), number: Int(number)) }
  }

  /// By seq - 1; `nil` where nobody has seen it.
  private(set) var slots: [Slot?] = []
  /// The last entry that a fresh reader found; `nil` before it has.
  var readBack: Int64?
  /// The oldest entry that the relay still has.
  var first: Int64 = 1

  /// The largest number that anybody has seen.
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

  /// One number for the whole log: rooms with the same digest have the same entries in the same
  /// order.
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
