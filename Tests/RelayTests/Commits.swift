import ShardWorld
import Wire

@testable import Relay

extension Commit {
  /// A commit of entries `1…` of one user, in the given rooms: for each, its first `seq` and how
  /// many. Each entry's frame is a length in four bytes and its JSON.
  static func entries(
    _ spans: [(room: String, first: Int64, count: Int)], trace: CommitTrace? = nil
  ) -> Commit {
    var entries: [StoreChanges.NewEntry] = []
    var groups: [Int] = []
    for (group, span) in spans.enumerated() {
      for number in 0..<span.count {
        let seq = span.first + Int64(number)
        let id = "\(span.room)-\(seq)"
        entries.append(
          StoreChanges.NewEntry(
            room: Int64(group), identity: EntryIdentity(hash: seq),
            entry: Entry(
              room: span.room, seq: seq, id: id, from: "ada", at: seq, kind: .text,
              body: Array(#""text":"\#(id)""#.utf8))))
        groups.append(group)
      }
    }
    return Commit(
      SpannedEntries(
        entries, groups: groups, firstKept: spans.map { _ in 1 },
        receivedAt: entries.map(\.entry.seq), SimulatedSocket.framing),
      marks: [], membershipChanges: [], typing: [], audiences: [], presences: [], redactions: [],
      trace: trace)
  }
}

/// Decodes frames of `Commit.entries`.
func sequence(of frames: [UInt8]) -> [Int64] {
  let socket = SimulatedSocket(loop: 0, connection: 0, session: .init(index: 0, generation: 0))
  _ = socket.write(frames.span)
  return socket.take().entries.map(\.seq)
}
