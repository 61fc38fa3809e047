internal import Wire

/// The names of a run's rooms, users and ids, and their inverse.
///
/// The tag is new for each run, so that runs against the same relay share no room, and ids are
/// unique as the protocol requires.
public struct Naming: Sendable {
  /// The identity of a send within a run.
  public struct SendID: Hashable, Sendable {
    /// Index into `Plan.clients`.
    public var client: Int
    /// From 1.
    public var number: Int

    /// Creates the id of the `number`-th send of a client.
    public init(client: Int, number: Int) {
      self.client = client
      self.number = number
    }
  }

  /// The tag of this run.
  public let tag: String
  /// By index into `Plan.clients`.
  public let users: [String]
  /// By index into `Plan.rooms`.
  public let rooms: [String]
  private let roomIndices: [String: Int]
  private let idStart: [UInt8]

  /// Creates the names for a plan.
  ///
  /// - Parameter tag: 10 to 26 of `a-z 0-9`, with at least 96 random bits if runs may share a
  ///   relay.
  public init(_ plan: Plan, tag: String) {
    self.tag = tag
    // Names are also read by users, who distinguish runs by a short part of the tag.
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

  /// Returns the prefix of a client's ids.
  public func idPrefix(ofClient client: Int) -> String { "\(tag)-\(client)" }

  /// Returns the id of a send: the prefix and the number, as `ClientSession` counts.
  public func id(of send: SendID) -> String { "\(idPrefix(ofClient: send.client))-\(send.number)" }

  /// Returns the index of a room; `nil` if it is not one of this run.
  public func room(_ name: String) -> Int? { roomIndices[name] }

  /// Returns the send with this id; `nil` if it is not one of this run.
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
