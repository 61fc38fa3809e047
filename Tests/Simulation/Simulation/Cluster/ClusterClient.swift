import Relay
import Wire

/// A user's client of a cluster: it joins all rooms on one node, sends, keeps what it is shown, and
/// moves to another node when it loses its own.
final class ClusterClient: CustomStringConvertible {
  private struct View {
    var entries: [EntryKey] = []
    var epoch: String?
    /// The room's last `seq` that the client knows of.
    var head: Int64 = 0
    var isJoined = false
    var isJoining = false

    var cursor: Int64 { entries.last?.seq ?? 0 }
  }

  let user: String
  private let index: Int
  private unowned let world: ClusterSimulation
  private(set) weak var node: ClusterNode?
  private(set) var session = SessionID(index: 0, generation: 0)
  private var views: [String: View] = [:]
  /// Not acknowledged, in the order in which they were written, by room.
  private var open: [String: [String]] = [:]
  /// The room and id of the entry that is under way.
  private var underWay: Set<String> = []
  private(set) var acknowledged: [EntryKey] = []
  private var lines = 0

  init(_ world: ClusterSimulation, user: String, index: Int) {
    self.world = world
    self.user = user
    self.index = index
  }

  var description: String {
    "\(user) (node \(node?.index ?? -1), open \(open.values.reduce(0) { $0 + $1.count }), "
      + ClusterSimulation.rooms.map { "\($0): \(views[$0]?.cursor ?? 0)/\(views[$0]?.head ?? 0)" }
      .joined(separator: " ") + ")"
  }

  var isSettled: Bool {
    node != nil && open.values.allSatisfy(\.isEmpty)
      && ClusterSimulation.rooms.allSatisfy { room in
        views[room].map { $0.isJoined && $0.cursor == $0.head } ?? false
      }
  }

  func list(_ room: String) -> [EntryKey] { views[room]?.entries ?? [] }

  // MARK: - What it does

  func act() {
    guard node != nil else { return connect() }
    switch Int.random(in: 0..<10, using: &world.random) {
    case ..<5: write()
    case 5: type()
    case 6: mark()
    case 7: govern()
    case 8: world.chance(50) ? govern() : block()
    default: goOn()
    }
  }

  /// Does what brings it to rest.
  func settle() {
    if node == nil { connect() }
    goOn()
  }

  private func connect() {
    let living = world.nodes.compactMap(\.self)
    guard let node = living.randomElement(using: &world.random) else { return }
    self.node = node
    world.trace("\(user) connects to node \(node.index)")
    session = SessionID(index: Int32(index + 1), generation: session.generation + 1)
    node.submit(.presence(user: user, from: .offline, to: .online))
  }

  func disconnect() {
    guard let node else { return }
    for room in ClusterSimulation.rooms where views[room]?.isJoined == true {
      node.submit(.unsubscribe(room: room, user: user))
    }
    node.submit(.presence(user: user, from: .online, to: .offline))
    self.node = nil
    underWay = []
    for room in views.keys {
      views[room]?.isJoined = false
      views[room]?.isJoining = false
    }
  }

  private func write() {
    guard let room = ClusterSimulation.rooms.randomElement(using: &world.random) else { return }
    lines += 1
    open[room, default: []].append("\(lines)")
    send(room)
  }

  /// Sends the first line of a room that is not acknowledged: the next one waits for its answer.
  private func send(_ room: String) {
    guard let node, let id = open[room]?.first, underWay.insert(room).inserted else { return }
    world.trace("\(user) sends \(room) \(id) to node \(node.index)")
    node.submit(
      .append(
        LogRequest.Append(
          session: session, room: room, user: user, id: id, kind: .text,
          body: Array("\"text\":\"\(user) \(id)\"".utf8), mayCreate: true)))
  }

  private func type() {
    node?.submit(.typing(room: "a", user: user, on: world.chance(50)))
  }

  private func mark() {
    guard let view = views["a"], view.isJoined, view.cursor > 0 else { return }
    node?.submit(
      .mark(room: "a", Marks(user: user, read: view.cursor, received: view.cursor)))
  }

  /// Changes who may do what in the room with members, or sends there, whether it may or not.
  private func govern() {
    lines += 1
    let (room, id) = (ClusterSimulation.den, "\(lines)")
    let send: ClientMessage.Send
    let isNew = world.list(room, in: world.database.current).isEmpty
    switch isNew ? 4 : Int.random(in: 0..<10, using: &world.random) {
    case ..<4: send = .init(room: room, id: id, text: "\(user) \(id)")
    case 4:
      var change = RoomSettings.Change()
      change.access = world.chance(70) ? .private : .open
      send = .init(room: room, id: id, settings: change)
    default:
      let roles: [Wire.Role] = [.owner, .moderator, .member, .member, .muted, .none, .banned]
      guard let named = world.clients.randomElement(using: &world.random)?.user,
        let role = roles.randomElement(using: &world.random)
      else { return }
      send = .init(room: room, id: id, member: MemberChange(user: named, role: role))
    }
    node?.submit(
      .append(
        LogRequest.Append(
          session: session, room: room, user: user, id: id, kind: send.kind, body: send.body,
          reference: send.reference, mayCreate: true)))
  }

  /// Sends to a direct room, or blocks its other user, or ends that.
  private func block() {
    guard let room = ClusterSimulation.directs.randomElement(using: &world.random),
      RoomName.isOpen(room, to: user), let peer = RoomName.peer(in: room, of: user)
    else { return }
    if world.chance(50) {
      let origin = LogRequest.Origin(session: session, re: .block, ref: nil)
      node?.submit(
        .block(
          LogRequest.Block(user: user, blocked: peer, on: world.chance(50), origin: origin)))
    } else {
      lines += 1
      node?.submit(
        .append(
          LogRequest.Append(
            session: session, room: room, user: user, id: "\(lines)", kind: .text,
            body: Array("\"text\":\"\(user) \(lines)\"".utf8), mayCreate: true)))
    }
  }

  private func goOn() {
    for room in ClusterSimulation.rooms {
      join(room)
      catchUp(room)
      send(room)
    }
  }

  private func join(_ room: String) {
    guard let node, views[room]?.isJoined != true, views[room]?.isJoining != true else { return }
    views[room, default: View()].isJoining = true
    node.submit(
      .subscribe(
        LogRequest.Subscribe(
          session: session, room: room, user: user, after: views[room]?.cursor ?? 0,
          epoch: views[room]?.epoch, lineage: nil, mayCreate: true)))
  }

  /// Reads what it missed from the database, as the reading thread does.
  private func catchUp(_ room: String) {
    guard let node, let view = views[room], view.isJoined, view.cursor < view.head else { return }
    let version = world.database.current
    guard world.database.isUp, node.shown.epoch == version.lineage.current.number,
      !world.hidesUnreplicated || node.shown.position >= version.position
    else { return }
    for entry in world.list(room, in: version) {
      guard entry.seq == (views[room]?.cursor ?? 0) + 1, entry.seq <= view.head else { continue }
      let key = EntryKey(entry)
      world.checkShown(key, by: "a page for \(user)")
      views[room]?.entries.append(key)
      world.trace("\(user) reads \(key) on node \(node.index)")
    }
  }

  // MARK: - What it is told

  func show(_ entry: Entry) {
    guard var view = views[entry.room], view.isJoined else { return }
    if entry.seq == view.cursor + 1, view.cursor == view.head {
      view.entries.append(EntryKey(entry))
      world.trace("\(user) is shown \(EntryKey(entry)) by node \(node?.index ?? -1)")
    } else if entry.seq > view.head + 1 {
      world.fault("\(user) was shown \(entry.room) \(entry.seq) after \(view.head)")
    }
    view.head = max(view.head, entry.seq)
    views[entry.room] = view
  }

  func join(_ joined: ServerMessage.Joined, head: Int64) {
    guard var view = views[joined.room] else { return }
    world.trace(
      "\(user) joins \(joined.room) on node \(node?.index ?? -1) in \(view.epoch ?? "") after "
        + "\(view.cursor): \(joined.resume) after \(joined.after) in \(joined.epoch)")
    switch joined.resume {
    case .ok: world.tally.count(.resumedOK)
    case .diverged: world.tally.count(.resumedDiverged)
    case .reset: world.tally.count(.resumedReset)
    case .truncated: world.tally.count(.resumedTruncated)
    }
    if joined.resume == .ok, joined.after != view.cursor {
      world.fault("\(user) resumed \(joined.room) after \(joined.after), not \(view.cursor)")
    }
    let dropped = view.entries.filter { $0.seq > joined.after || joined.resume == .reset }
    world.checkLost(dropped, room: joined.room, epoch: view.epoch, for: user)
    view.entries.removeAll { $0.seq > joined.after || joined.resume == .reset }
    view.epoch = joined.epoch
    view.head = head
    view.isJoined = true
    view.isJoining = false
    views[joined.room] = view
  }

  func acknowledge(_ ack: ServerMessage.Ack) {
    if !ClusterSimulation.rooms.contains(ack.room) { return }
    guard open[ack.room]?.first == ack.id else {
      return world.fault("\(user) got an ack of \(ack.room) \(ack.id), which it does not wait for")
    }
    let key = EntryKey(room: ack.room, seq: ack.seq, from: user, id: ack.id)
    world.checkShown(key, by: "an ack")
    world.tally.count(ack.duplicate ? .duplicateAcknowledged : .acknowledged)
    acknowledged.append(key)
    open[ack.room]?.removeFirst()
    underWay.remove(ack.room)
  }

  func refuse(_ error: WireError) {
    world.trace("\(user) is refused: \(error.code) \(error.room ?? "") \(error.id ?? "")")
    guard let room = error.room, ClusterSimulation.rooms.contains(room) else { return }
    switch (error.code, error.re) {
    case (.unavailable, .send):
      world.tally.count(.refusedUnavailable)
      underWay.remove(room)
    case (.unavailable, .join): views[room]?.isJoining = false
    default: world.fault("\(user) was refused with \(error)")
    }
  }
}

extension ClusterSimulation {
  /// A client that has joined in `epoch` is told that the log has lost these entries.
  func checkLost(_ entries: [EntryKey], room: String, epoch: String?, for user: String) {
    guard !entries.isEmpty else { return }
    let version = database.current
    // If the log has lost the epoch as well, the client has to begin anew.
    guard let epoch, version.lineage.find(epoch) != nil else { return }
    let kept = Set(list(room, in: version).map(EntryKey.init))
    for key in entries where kept.contains(key) && !lostByForks.contains(key) {
      fault("\(user) is told that \(key) is lost, which the log has")
    }
  }

  /// An entry is shown to a client, or acknowledged.
  func checkShown(_ key: EntryKey, by source: String) {
    tally.count(.entryShown)
    if !everCertain.contains(key), !lostByForks.contains(key) {
      fault("\(source) shows \(key), which is not certain")
    }
  }
}
