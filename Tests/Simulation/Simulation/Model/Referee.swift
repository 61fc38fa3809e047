internal import Mixing
internal import Relay
internal import Wire

/// The state that the witnesses of all connections share: the ledger, and the broken promises.
final class Referee {
  struct Taken {
    var at: Int64
    /// The time on a clock that stops while the relay does not read the connection.
    var readingTime: Int64
  }
  /// The time during which the relay does not read a connection.
  private struct Pause {
    var began: Int64?
    var before: Int64 = 0
  }

  var ledger = Ledger()
  let files = FileModel()
  var tally = Tally()
  /// The length of the longest message that the relay has sent.
  var longestMessageBytes = 0
  /// The monotonic clock, in milliseconds.
  var now: Int64 = 0
  /// The latest time of the system's clock, in milliseconds since 1970.
  var latestWall: Int64 = 0
  /// Whether reads of the disk failed at some time.
  var readsMayFail = false
  /// The promises that were broken.
  private(set) var faults: [String] = []
  /// All bodies that were ever sent under an id.
  private var sent: [Ledger.Identity: Set<[UInt8]>] = [:]
  /// Users that have left a room with `forget`, by room: their marks and their lists of rooms are
  /// not checked.
  private var leavers: Set<String> = []
  /// Rooms in which a user's refusals arrived too late to keep the order.
  private var overtaken: Set<String> = []
  private var forwards: [(entry: Entry, source: Forward)] = []
  /// The times at which the relay took sends, by connection, in order.
  private var takenAt: [Int32: [Taken]] = [:]
  private var pauses: [Int32: Pause] = [:]
  /// A hash of everything that clients received.
  private(set) var digest = FNV1a()
  var trace: (() -> String) -> Void = { _ in }

  func fault(_ text: String) {
    trace { "FAULT \(text)" }
    faults.append(text)
  }

  func digest(_ json: Span<UInt8>) {
    digest.combine(json)
  }

  func recordSent(_ send: ClientMessage.Send, by user: String) {
    sent[.init(room: send.room, user: user, id: send.id), default: []].insert(send.body)
  }

  func wasSent(_ entry: Entry) -> Bool {
    guard let bodies = sent[Ledger.Identity(entry)] else { return false }
    if bodies.contains(entry.sentBody) { return true }
    // Deleted before any client received it: the ledger waits for the deletion.
    if entry.text == "" || entry.isDeleted { return true }
    guard var source = entry.forward, source.from != nil else { return false }
    source.from = nil
    let send = ClientMessage.Send(room: entry.room, id: entry.id, forward: source)
    guard bodies.contains(send.body) else { return false }
    forwards.append((entry, source))
    return true
  }

  /// Checks that each forward has the text of its source. To be called when a whole commit is in
  /// the ledger, since the source may follow the forward in it.
  func checkForwards() {
    // No client has seen a source that was deleted in the same batch as the forward.
    for (entry, source) in forwards
    where ledger.hides(source.seq, in: source.room, from: entry.from) == true
      || !ledger.room(source.room).rights.mayRead(
        source.seq, by: entry.from, since: ledger.headsBefore[source.room] ?? 0, latestWall)
    {
      fault("\(entry.from) has forwarded \(source.room) \(source.seq), and may not read it")
    }
    for (entry, source) in forwards
    where ledger.isText(source.room, source.seq)
      && !ledger.versions(of: source.seq, in: source.room, shownTo: entry.from)
        .contains(entry.text ?? "")
    {
      fault("\(entry.room) \(entry.seq) differs from its source \(source.room) \(source.seq)")
    }
    forwards = []
  }

  func recordLeft(_ room: String, _ user: String) { leavers.insert("\(room) \(user)") }
  /// In a room with rules, entries begin and end what users have left otherwise.
  func hasLeft(_ room: String, _ user: String) -> Bool {
    leavers.contains("\(room) \(user)") || Simulation.dens.contains(room)
  }

  func recordOvertaken(_ room: String, _ user: String) { overtaken.insert("\(room) \(user)") }
  func mayBeOvertaken(_ room: String, _ user: String) -> Bool {
    overtaken.contains("\(room) \(user)")
  }

  func recordTaken(_ link: Int32) {
    let readingTime = now - (pauses[link]?.before ?? 0)
    takenAt[link, default: []].append(Taken(at: now, readingTime: readingTime))
  }

  /// Records that the relay stops reading a connection, or resumes.
  func pause(_ link: Int32, isPaused: Bool) {
    var pause = pauses[link] ?? Pause()
    if let began = pause.began, !isPaused { pause.before += now - began }
    pause.began = isPaused ? pause.began ?? now : nil
    pauses[link] = pause
  }

  /// Returns when the relay took the send of this index of a connection, if it has.
  func taken(_ link: Int32, _ place: Int) -> Taken? {
    guard let times = takenAt[link], place < times.count else { return nil }
    return times[place]
  }
}
