internal import Relay
internal import Wire

/// A client that receives rooms as an event stream, and resumes it by the last `id` that it got: the
/// witness checks that this is exactly where it was in every room.
final class StreamParticipant: Participant {
  private struct Place {
    var seq: Int64?
    var epoch: String?
  }

  let name: String
  let user: String
  var end: ClientEnd? { nil }
  private var stream: StreamEnd?
  private unowned let world: Simulation
  private let index: Int
  private let rooms: [String]
  /// Whether the rooms have members, among which the user may not be.
  private let readsDens: Bool
  /// What it has of each room, and what it had when it got `lastID`.
  private var places: [Place]
  private var resumable: [Place]
  private var lastID: String?
  private var joined: Set<String> = []
  private var connectAt: Int64
  private var readAt: Int64 = 0
  private var heardAt: Int64 = 0
  private var acts = true

  /// Longer than the relay is silent, in milliseconds.
  private static let patienceMilliseconds: Int64 = 18_000

  init(_ name: String, user: String, _ world: Simulation, readsDens: Bool = false) {
    self.name = name
    self.user = user
    self.world = world
    index = world.clients.count
    self.readsDens = readsDens
    let open = Simulation.rooms.filter { RoomName.isOpen($0, to: user) }
    rooms =
      readsDens
      ? Simulation.dens.shuffled(using: &world.random).dropLast()
      : open.shuffled(using: &world.random).dropLast(Int(world.pick(0...2)))
    let fromStart = world.chance(70)
    places = rooms.map { _ in Place(seq: fromStart ? 0 : nil) }
    resumable = places
    connectAt = world.now.monotonic + world.pick(0...300)
  }

  var linkEnd: (any LinkEnd)? { stream }

  func turn() {
    let now = world.now.monotonic
    if stream == nil, connectAt <= now { connect() }
    if readAt <= now {
      takeEvents()
      if acts, world.chance(2) { readAt = now + world.pick(0...3000) }
    }
    if stream != nil, now - heardAt > Self.patienceMilliseconds {
      world.referee.tally.count(.clientTimedOut)
      drop()
    }
    stream?.flush(world)
    schedule(index, at: [now + 1000, stream == nil ? connectAt : max(now + 1, readAt)], in: world)
  }

  private func connect() {
    let now = world.now.monotonic
    guard let link = world.connectLink(user, kind: .honest), let relay = world.relay else {
      connectAt = now + world.pick(20...500)
      return
    }
    heardAt = now
    places = resumable
    joined = []
    let stream = StreamEnd(link, world.referee, epoch: relay.log.epoch)
    self.stream = stream
    // Some clients know their positions themselves.
    let id = world.chance(80) ? lastID : nil
    var target = "/v1/stream?\(link.query)"
    for (room, place) in zip(rooms, places) {
      target += "&room=\(room)"
      if id == nil, let seq = place.seq {
        target += "&after=\(seq)"
        if let epoch = place.epoch { target += "&epoch=\(epoch)" }
      }
      stream.witness.recordSent(
        .join(ClientMessage.Join(room: room, after: place.seq, epoch: place.epoch)))
    }
    let isInQuery = world.chance(50)
    if isInQuery, let id { target += "&last_event_id=\(id)" }
    stream.request(target, lastEventID: isInQuery ? nil : id)
  }

  private func takeEvents() {
    guard let current = stream else { return }
    let now = world.now.monotonic
    if current.hasSomethingToRead { heardAt = now }
    let limit = world.chance(60) ? 65_536 : Int.random(in: 1...400, using: &world.random)
    for event in current.receive(limit: limit, now: now) {
      switch event {
      case .message(let message): take(message)
      case .id(let id):
        world.referee.tally.count(.eventIdentified)
        lastID = id
        resumable = places
      case .refused(let status):
        let isHidden = readsDens && (status == 403 || status == 404)
        if status != 503, status != 429, !isHidden {
          world.referee.fault("\(name): refused with \(status)")
        }
        drop()
      case .lost: drop()
      }
      guard stream === current else { return }
    }
  }

  private func take(_ message: ServerMessage) {
    switch message {
    case .joined(let told):
      joined.insert(told.room)
      set(told.room, Place(seq: told.after, epoch: told.epoch))
    case .message(let entry):
      world.referee.tally.count(.streamed)
      set(entry.room, Place(seq: entry.seq, epoch: place(of: entry.room)?.epoch))
    case .error(let error) where error.re == .join: drop()
    case .left: drop()
    default: break
    }
  }

  private func place(of room: String) -> Place? { rooms.firstIndex(of: room).map { places[$0] } }

  private func set(_ room: String, _ place: Place) {
    if let index = rooms.firstIndex(of: room) { places[index] = place }
  }

  private func drop() {
    if let stream { world.abandon(stream.link) }
    stream = nil
    joined = []
    connectAt = world.now.monotonic + world.pick(0...500)
  }

  // MARK: - End of the run

  func stopActing() {
    acts = false
    readAt = 0
  }

  var isIdle: Bool {
    if readsDens { return true }
    guard let stream, stream.link.life == world.life else { return false }
    return rooms.allSatisfy {
      joined.contains($0) && place(of: $0)?.seq == world.referee.ledger.room($0).head
    }
  }

  func checkIdle() {
    if readsDens { return }
    for room in rooms where place(of: room)?.seq != world.referee.ledger.room(room).head {
      world.referee.fault(
        "\(name): the stream of \(room) ends at \(place(of: room)?.seq ?? -1), not "
          + "\(world.referee.ledger.room(room).head)")
    }
  }
}
