/// The hash by which an entry is found again from its room, sender and id.
///
/// Stores keep it, so it must never change. The upper half depends on room and sender alone.
public struct EntryIdentity: Hashable, Sendable {
  public let hash: Int64

  /// One that a store has kept.
  @inlinable
  public init(hash: Int64) { self.hash = hash }

  public init(room: Int64, sender: String, id: String) {
    let upper = Self.mix(Self.fnv1a(sender, from: Self.mix(UInt64(bitPattern: room))))
    let lower = Self.mix(Self.fnv1a(id, from: 0xCBF2_9CE4_8422_2325))
    hash = Int64(bitPattern: upper & 0xFFFF_FFFF_0000_0000 | lower >> 32)
  }

  /// FNV-1a, 64 bits.
  private static func fnv1a(_ text: String, from basis: UInt64) -> UInt64 {
    var hash = basis
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hash
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
