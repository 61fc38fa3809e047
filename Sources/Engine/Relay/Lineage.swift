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
  public private(set) var epochs: [Epoch]

  /// - Parameter epochs: the last is the current one; there is at least one.
  public init(_ epochs: [Epoch]) {
    precondition(!epochs.isEmpty, "an open log has an epoch")
    self.epochs = epochs
  }

  public var current: Epoch { epochs[epochs.count - 1] }

  public func find(_ name: String) -> Epoch? { epochs.last { $0.name == name } }

  /// Returns 66 random bits as 11 characters that need no escaping anywhere.
  public static func randomName(using generator: inout some RandomNumberGenerator) -> String {
    let alphabet = Array(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    let characters = (0..<11).map { _ in alphabet[Int.random(in: 0..<64, using: &generator)] }
    return String(decoding: characters, as: UTF8.self)
  }
}
