/// One epoch of the log as a room's entries show it.
public struct EpochStart: Equatable, Sendable {
  /// The most of them that `lineage` has, the newest first.
  public static let limit = 16

  public var epoch: String
  /// The entries after this `seq` are of the epoch, up to the next one's `after`.
  public var after: Int64

  public init(epoch: String, after: Int64) {
    self.epoch = epoch
    self.after = after
  }
}

extension EpochStart: WireObject {
  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage) {
    self.init(
      epoch: try reader.string(.epoch, json), after: try reader.integer(.after, json))
  }
}

extension [UInt8] {
  /// Appends a lineage as a further member of an object.
  mutating func append(lineage: [EpochStart]?) {
    guard let lineage else { return }
    append(",\"lineage\":[")
    for (index, start) in lineage.enumerated() {
      append(member: index == 0 ? "{\"epoch\":" : ",{\"epoch\":", start.epoch)
      append(member: ",\"after\":", start.after)
      append("}")
    }
    append("]")
  }

  /// Adds `ref` to the object that was appended last.
  mutating func append(ref: String?) {
    guard let ref else { return }
    removeLast()
    append(member: ",\"ref\":", ref)
    append("}")
  }
}
