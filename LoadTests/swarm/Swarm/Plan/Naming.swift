internal import Wire

/// What a run's rooms, users and ids are called, and back.
///
/// The tag is new for each run, so that runs against the same relay never meet in a room, and ids
/// are unique as the protocol wants them.
public struct Naming: Sendable {
  /// Which of a run's sends an entry is.
  public struct SendID: Hashable, Sendable {
    /// Index into `Plan.clients`.
    public var client: Int
    /// From 1 on.
    public var number: Int

    /// The `number`-th send of a client.
    public init(client: Int, number: Int) {
      self.client = client
      self.number = number
    }
  }

  /// Of this run.
  public let tag: String
  /// By index into `Plan.clients`.
  public let users: [String]
  /// By index into `Plan.rooms`.
  public let rooms: [String]
  private let roomIndices: [String: Int]
  private let idStart: [UInt8]

  /// Names for a plan.
  ///
  /// - Parameter tag: 10 to 26 of `a-z 0-9`, with at least 96 random bits for all that may meet.
  public init(_ plan: Plan, tag: String) {
    self.tag = tag
    // Names are to be read by people too: a short part of the tag tells runs apart.
    let short = tag.prefix(8)
    let users = plan.clients.indices.map { "sw-\(short)-\($0)" }
    self.users = users
    rooms = plan.rooms.map { room in
      switch room {
      case .group(let name, let index): "sw-\(short)-\(name)-\(index)"
      case .direct(let a, let b): RoomName.direct(users[a], users[b])
      }
    }
    roomIndices = Dictionary(uniqueKeysWithValues: rooms.enumerated().map { ($1, $0) })
    idStart = Array("\(tag)-".utf8)
  }

  /// With it a client's ids begin.
  public func idPrefix(ofClient client: Int) -> String { "\(tag)-\(client)" }

  /// The id of a send: the prefix and its number, as `ClientSession` counts.
  public func id(of send: SendID) -> String { "\(idPrefix(ofClient: send.client))-\(send.number)" }

  /// Which room this is; `nil` if none of ours.
  public func room(_ name: String) -> Int? { roomIndices[name] }

  /// Which send has this id; `nil` if none of this run.
  public func send(ofID id: String) -> SendID? {
    let bytes = id.utf8
    guard bytes.starts(with: idStart) else { return nil }
    let parts = bytes.dropFirst(idStart.count).split(separator: UInt8(ascii: "-"))
    guard parts.count == 2, let client = Int(Substring(parts[0])),
      let number = Int(Substring(parts[1])), number > 0, users.indices.contains(client)
    else { return nil }
    return SendID(client: client, number: number)
  }
}
