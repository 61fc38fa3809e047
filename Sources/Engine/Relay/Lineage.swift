import Wire

/// The epochs of a log: one for each start.
public struct Lineage: Sendable {
  public struct Epoch: Equatable, Sendable {
    /// 1 for the first start, one more for each.
    public var number: Int64
    /// At least 64 random bits.
    public var name: String

    public init(number: Int64, name: String) {
      self.number = number
      self.name = name
    }
  }
  /// In ascending order of their numbers.
  public let epochs: [Epoch]
  /// Indices of `epochs` by name: a log may have thousands, and a join may name 16.
  private let indices: [String: Int]

  /// - Parameter epochs: the last is the current one; there is at least one.
  public init(_ epochs: [Epoch]) {
    precondition(!epochs.isEmpty, "an open log has an epoch")
    self.epochs = epochs
    indices = Dictionary(
      epochs.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { $1 })
  }

  public var current: Epoch { epochs[epochs.count - 1] }

  public func find(_ name: String) -> Epoch? { indices[name].map { epochs[$0] } }

  /// Returns the name of an epoch; `nil` if there is none with this number.
  func name(of number: Int64) -> String? {
    let index = epochs.partitioningIndex { $0.number >= number }
    return index < epochs.count && epochs[index].number == number ? epochs[index].name : nil
  }

  /// The newest epoch that a client and the log have in common.
  struct Common: Equatable {
    var epoch: Epoch
    /// The client's last `seq` of it: where the client's next epoch begins; `nil` if it has none.
    var end: Int64?
  }

  /// Returns the newest epoch of a client that the log knows; `nil` if it knows none of them. A
  /// client that names no epoch is believed to have entries of the current one.
  /// - Parameter lineage: replaces `epoch`, unless it is empty.
  func common(epoch: String?, lineage: [EpochStart]?) -> Common? {
    guard let lineage, !lineage.isEmpty else {
      return (epoch.map(find) ?? current).map { Common(epoch: $0) }
    }
    var end: Int64?
    for start in lineage {
      if let known = find(start.epoch) { return Common(epoch: known, end: end) }
      end = start.after
    }
    return nil
  }

  /// Returns 65 random bits as 11 characters that need no escaping anywhere. The first is a letter, so
  /// that no program takes the name for an option.
  public static func randomName(using generator: inout some RandomNumberGenerator) -> String {
    let alphabet = Array(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    let characters = (0..<11).map { index in
      alphabet[Int.random(in: 0..<(index == 0 ? 52 : 64), using: &generator)]
    }
    return String(decoding: characters, as: UTF8.self)
  }
}
