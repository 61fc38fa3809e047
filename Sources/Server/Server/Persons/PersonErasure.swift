import Gateway
import Glibc
import Relay
package import SQLiteLog
public import Wire

/// The erasure of a person: finds what the relay has of them, and has it removed in batches of bounded cost.
/// Each batch is stored when the next one begins, so an erasure that was interrupted is continued by another.
public struct PersonErasure {
  /// How many entries one batch removes, so that the messages of others pass between them.
  static let requestsAtOnce = RequestBatch.requestsLimit
  /// How often the store is read again. The first time finds nearly all; the second one, what took reactions
  /// back; further ones, what arrived meanwhile.
  private static let readsLimit = 10
  /// How long a relay may take to store that a user went, and how often it is waited for.
  private static let departureMicroseconds: UInt32 = 500_000
  private static let departuresLimit = 10
  /// How long a running relay may take to remove deleted content from its files.
  private static let searchMilliseconds = 15_000

  /// What has to be removed.
  private struct Survey {
    var rooms: [String] = []
    /// Entries, in the order of the log.
    var entries: [(room: Int, seq: Int64)] = []
    /// The rooms in which the person is, or is kept out, or has blocked someone.
    var memberships: Set<String> = []
    var isBanned = false
    /// Whether there is anything of the person, erased or not.
    var isKnown = false

    var isEmpty: Bool { entries.isEmpty && memberships.isEmpty }
  }

  private let user: String
  private let place: StorePlace
  private let perform: ([ClientMessage]) throws -> Void
  private let samples = ContentSamples()
  /// What was removed so far.
  public private(set) var report = ErasureReport()

  /// - Parameter perform: lets the relay carry out requests as one batch, and throws if it refuses one.
  public init(
    of user: String, in place: StorePlace, perform: @escaping ([ClientMessage]) throws -> Void
  ) {
    self.user = user
    self.place = place
    self.perform = perform
  }

  /// Removes everything but what docs/operations.md says remains.
  public mutating func run() throws {
    var survey = try survey()
    guard try survey.isKnown || place.hasAccount(user) else { throw StorePlace.unknown(user) }
    // First of all, since the last operator is refused.
    report.account = try place.eraseAccount(of: user)
    if !survey.isBanned { try perform([.ban(user: user, on: true, until: nil)]) }
    var reads = 1
    while !survey.isEmpty {
      guard reads < Self.readsLimit else {
        throw StoreError(
          .environment,
          "There is still something of \(user), in \(survey.memberships.first ?? survey.rooms[0]). Run "
            + "relay erase again.")
      }
      try remove(survey)
      survey = try self.survey()
      reads += 1
    }
    var tries = 0
    repeat {
      guard tries < Self.departuresLimit else {
        throw StoreError(.environment, "\(user) is still online. Run relay erase again.")
      }
      try perform([.erase(user: user, room: nil, seq: nil)])
      // The ban has ended their connections, and a relay stores when a user went.
      usleep(Self.departureMicroseconds)
      tries += 1
    } while try place.knows(user)
  }

  /// Searches the files of a data folder for pieces of what `run` has removed, until there is none or a running
  /// relay should have removed all.
  package func search(folder: String) throws(StoreError) -> ContentSamples.Result {
    var waited = 0
    while true {
      let result = try samples.search(folder: folder)
      if result.findings.isEmpty || waited >= Self.searchMilliseconds { return result }
      usleep(500_000)
      waited += 500
    }
  }

  /// The number of pieces that are searched for.
  public var sampleCount: Int { samples.count }

  // MARK: - Steps

  private mutating func survey() throws -> Survey {
    var survey = Survey()
    var rooms: [String: Int] = [:]
    var report = report
    try place.person(user, samples: samples) { record in
      survey.isKnown = true
      if case .ban(let ban) = record { survey.isBanned = ban.change.until == nil }
      guard let part = record.erasure(of: user), let room = part.room else { return }
      report.count(record, in: room)
      guard let seq = part.seq else {
        survey.memberships.insert(room)
        return
      }
      let index = rooms[room] ?? survey.rooms.count
      if index == survey.rooms.count {
        rooms[room] = index
        survey.rooms.append(room)
      }
      survey.entries.append((index, seq))
    }
    self.report = report
    return survey
  }

  /// The last entry first: where this is interrupted, what a forward has taken its text from still shows whose it
  /// is.
  private func remove(_ survey: Survey) throws {
    var end = survey.entries.count
    while end > 0 {
      let start = max(0, end - Self.requestsAtOnce)
      try perform(
        survey.entries[start..<end].reversed().map {
          .erase(user: user, room: survey.rooms[$0.room], seq: $0.seq)
        })
      end = start
    }
    var rest = survey.memberships.sorted()[...]
    while !rest.isEmpty {
      try perform(
        rest.prefix(Self.requestsAtOnce).map { .erase(user: user, room: $0, seq: nil) })
      rest = rest.dropFirst(Self.requestsAtOnce)
    }
  }
}
