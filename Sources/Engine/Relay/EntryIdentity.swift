import Mixing

/// A hash of an entry's room, sender and id (SipHash-2-4), by which the entry is found before the
/// three are compared. The key is a secret of the store, so that an attacker cannot choose ids with
/// equal hashes, all of which would have to be compared for each later one.
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

    /// The key of a store that had entries before keys were introduced: its hashes are the same as
    /// those of all such stores.
    public static let none = Key(low: 0, high: 0)

    public static func random(using generator: inout some RandomNumberGenerator) -> Key {
      // A key of zeros stands for no key.
      Key(low: generator.next() | 1, high: generator.next())
    }

    /// Creates a key from the 16 bytes that a store keeps; `nil` if they are not a key.
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

  /// Creates an identity from a hash that a store has kept.
  @inlinable
  public init(hash: Int64) { self.hash = hash }

  public init(room: Int64, sender: String, id: String, key: Key) {
    if key == .none {
      self.init(unkeyedRoom: room, sender: sender, id: id)
      return
    }
    let hash = Self.hash(UInt64(bitPattern: room), sender: sender, id: id, key: key)
    self.init(hash: Int64(bitPattern: hash))
  }

  @inline(__always)
  static func hash(_ number: UInt64, sender: String, id: String, key: Key) -> UInt64 {
    var hasher = SipHash(key)
    hasher.combine(number)
    hasher.combine(sender)
    // Marks the end of the sender's name; this byte does not occur in UTF-8.
    hasher.combine(0xFF as UInt8)
    hasher.combine(id)
    return hasher.finish()
  }

  private init(unkeyedRoom room: Int64, sender: String, id: String) {
    let upper = Self.mix(FNV1a.hash(sender, from: Self.mix(UInt64(bitPattern: room))))
    let lower = Self.mix(FNV1a.hash(id))
    self.init(hash: Int64(bitPattern: upper & 0xFFFF_FFFF_0000_0000 | lower >> 32))
  }

  /// Returns the result of MurmurHash3's finalizer: every bit of the input affects every bit of the
  /// output.
  @inlinable
  public static func mix(_ value: UInt64) -> UInt64 {
    var hash = value
    hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
    hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
    return hash ^ hash >> 33
  }
}
