import Mixing

/// What an entry is found again by before its room, sender and id are compared: a hash of the three
/// (SipHash-2-4), under a key that its store keeps to itself. So nobody can choose ids that share one,
/// each of which would have to be compared for every later one.
public struct EntryIdentity: Hashable, Sendable {
  public let hash: Int64

  /// 128 secret bits, the same for all entries of a store.
  public struct Key: Equatable, Sendable {
    let low: UInt64
    let high: UInt64

    init(low: UInt64, high: UInt64) {
      self.low = low
      self.high = high
    }

    /// That of a store that had entries before there were keys: its hashes are those of all such stores.
    public static let none = Key(low: 0, high: 0)

    public static func random(using generator: inout some RandomNumberGenerator) -> Key {
      // 0 stands for no key.
      Key(low: generator.next() | 1, high: generator.next())
    }

    /// As a store keeps it, 16 bytes; `nil` if it is not one.
    public init?(bytes: [UInt8]) {
      guard bytes.count == 16 else { return nil }
      func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
      }
      self.init(low: word(bytes[..<8]), high: word(bytes[8...]))
    }

    public var bytes: [UInt8] {
      [low, high].flatMap { word in
        stride(from: 0, to: 64, by: 8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
      }
    }
  }

  /// One that a store has kept.
  @inlinable
  public init(hash: Int64) { self.hash = hash }

  public init(room: Int64, sender: String, id: String, key: Key) {
    if key == .none {
      self.init(unkeyedRoom: room, sender: sender, id: id)
      return
    }
    var hasher = SipHash(key)
    hasher.combine(UInt64(bitPattern: room))
    for byte in sender.utf8 { hasher.combine(byte) }
    // In no UTF-8: where the sender's name ends.
    hasher.combine(0xFF as UInt8)
    for byte in id.utf8 { hasher.combine(byte) }
    self.init(hash: Int64(bitPattern: hasher.finish()))
  }

  private init(unkeyedRoom room: Int64, sender: String, id: String) {
    let upper = Self.mix(FNV1a.hash(sender, from: Self.mix(UInt64(bitPattern: room))))
    let lower = Self.mix(FNV1a.hash(id))
    self.init(hash: Int64(bitPattern: upper & 0xFFFF_FFFF_0000_0000 | lower >> 32))
  }

  /// MurmurHash3's last step: every bit of the input moves every bit of the output.
  @inlinable
  public static func mix(_ value: UInt64) -> UInt64 {
    var hash = value
    hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
    hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
    return hash ^ hash >> 33
  }
}
