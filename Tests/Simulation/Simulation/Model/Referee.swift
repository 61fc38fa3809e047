internal import Mixing
internal import Relay
internal import Wire

/// What the witnesses of all connections share: the truth, and what was found to be wrong.
final class Referee {
  struct Taken {
    var at: Int64
    /// The same by a clock that stands still while the relay does not read the connection.
    var readingTime: Int64
  }
  /// How long the relay has not read a connection.
  private struct Pause {
    var began: Int64?
    var before: Int64 = 0
  }

  var ledger = Ledger()
  var tally = Tally()
  /// Of all messages of the relay.
  var longestMessageBytes = 0
  /// The monotonic clock, in milliseconds.
  var now: Int64 = 0
  /// The disk could not be read at some time.
  var readsMayFail = false
  /// Which promises were broken.
  private(set) var faults: [String] = []
  /// What was ever sent under an id: the bodies.
  private var sent: [Ledger.Identity: Set<[UInt8]>] = [:]
  /// Users who have left a room for good at some time: of their marks and rooms nothing is expected.
  private var leavers: Set<String> = []
  /// Rooms in which a user's refusals came too late to keep the order.
  private var overtaken: Set<String> = []
  private var forwards: [(entry: Entry, source: Forward)] = []
  /// When the relay took a send: by connection and how many it had taken before.
  private var takenAt: [Int32: [Taken]] = [:]
  private var pauses: [Int32: Pause] = [:]
  /// Of everything that clients were told.
  private(set) var digest = FNV1a()
  var trace: (() -> String) -> Void = { _ in }

  func fault(_ text: String) {
    trace { "FAULT \(text)" }
    faults.append(text)
  }

  func digest(_ json: Span<UInt8>) {
    digest.combine(json)
  }

  func noteSent(_ send: ClientMessage.Send, by user: String) {
    sent[.init(room: send.room, user: user, id: send.id), default: []].insert(send.body)
  }

  func wasSent(_ entry: Entry) -> Bool {
    guard let bodies = sent[Ledger.Identity(entry)] else { return false }
    if bodies.contains(entry.body) { return true }
    // Deleted before anybody saw it: the ledger waits for what deletes it.
    if entry.text == "" || entry.isDeleted { return true }
    guard var source = entry.forward, source.from != nil else { return false }
    source.from = nil
    let send = ClientMessage.Send(room: entry.room, id: entry.id, forward: source)
    guard bodies.contains(send.body) else { return false }
    forwards.append((entry, source))
    return true
  }

  /// What is forwarded says what its source says: to be called when a whole commit is in the ledger,
  /// in which the source may have its place behind the forward.
  func checkForwards() {
    // One that was deleted in the batch of the forward nobody has ever seen.
    for (entry, source) in forwards
    where ledger.isText(source.room, source.seq)
      && !ledger.versions(of: source.seq, in: source.room).contains(entry.text ?? "")
    {
      fault("\(entry.room) \(entry.seq) is not what \(source.room) \(source.seq) says")
    }
    forwards = []
  }

  func noteLeft(_ room: String, _ user: String) { leavers.insert("\(room) \(user)") }
  func hasLeft(_ room: String, _ user: String) -> Bool { leavers.contains("\(room) \(user)") }

  func noteOvertaken(_ room: String, _ user: String) { overtaken.insert("\(room) \(user)") }
  func mayBeOvertaken(_ room: String, _ user: String) -> Bool {
    overtaken.contains("\(room) \(user)")
  }

  func noteTaken(_ link: Int32) {
    let readingTime = now - (pauses[link]?.before ?? 0)
    takenAt[link, default: []].append(Taken(at: now, readingTime: readingTime))
  }

  /// The relay does not read a connection any more, or does so again.
  func note(_ link: Int32, isPaused: Bool) {
    var pause = pauses[link] ?? Pause()
    if let began = pause.began, !isPaused { pause.before += now - began }
    pause.began = isPaused ? pause.began ?? now : nil
    pauses[link] = pause
  }

  /// When the relay took a connection's send of this place, if it has.
  func taken(_ link: Int32, _ place: Int) -> Taken? {
    guard let times = takenAt[link], place < times.count else { return nil }
    return times[place]
  }
}
