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

/// The form in a query: `epoch:after`; a lineage is such parts with commas between them.
extension EpochStart: LosslessStringConvertible {
  public var description: String { "\(epoch):\(after)" }

  public init?(_ description: String) {
    guard let colon = description.lastIndex(of: ":"),
      let after = Int64(description[description.index(after: colon)...]), after >= 0
    else { return nil }
    self.init(epoch: String(description[..<colon]), after: after)
  }
}

extension [EpochStart] {
  /// Reads the form in a query; `nil` if it is not one.
  public init?(query: String) {
    self = []
    for part in query.split(separator: ",", omittingEmptySubsequences: false) {
      guard let start = EpochStart(String(part)) else { return nil }
      append(start)
    }
  }

  public var query: String { map(\.description).joined(separator: ",") }
}

extension EpochStart: WireObject {
  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage) {
    self.init(
      epoch: try reader.string(.epoch, json), after: try reader.integer(.after, json))
  }
}

extension [UInt8] {
  /// Appends a lineage as a further member of an object.
  public mutating func append(lineage: [EpochStart]?) {
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
