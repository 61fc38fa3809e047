/// What a check of a whole store has found.
public struct StoreVerification: Sendable {
  /// An inconsistency in the store.
  public struct Break: Equatable, Sendable, CustomStringConvertible {
    /// `nil` if it concerns the whole store.
    public var room: String?
    public var seq: Int64?
    public var problem: String

    public var description: String {
      guard let room else { return problem }
      guard let seq else { return "room \(room): \(problem)" }
      return "room \(room), seq \(seq): \(problem)"
    }
  }

  public package(set) var count = StoreCount()
  /// At most `breakLimit`.
  public private(set) var breaks: [Break] = []
  /// The number of all inconsistencies.
  public private(set) var breakCount = 0
  /// What was not checked, and what is no inconsistency, as sentences for the operator.
  public package(set) var notes: [String] = []

  public static let breakLimit = 1000

  package init() {}

  package mutating func add(_ problem: String, room: String? = nil, seq: Int64? = nil) {
    breakCount += 1
    if breaks.count < Self.breakLimit {
      breaks.append(Break(room: room, seq: seq, problem: problem))
    }
  }
}
