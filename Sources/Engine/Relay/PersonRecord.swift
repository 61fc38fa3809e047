package import Wire

/// Something that a store has about one person.
package enum PersonRecord: Sendable {
  /// An entry of theirs, as the log has it.
  case entry(Entry)
  /// An entry of another user that has their text.
  case forward(Entry)
  /// A record in `sys:reports` of a report that they have made, or that has a copy of what they said.
  case report(Entry)
  case marks(MarksLine)
  case standing(StandingLine)
  /// A block that they have begun, or that is about them.
  case block(BlockLine)
  case ban(BanLine)
  /// When they were last seen, in milliseconds since 1970.
  case seen(at: Int64)
}

/// Finds the entries of a store that have something of one person. They come in an order in which a forward
/// follows what it forwards.
package struct PersonFilter {
  private struct Place: Hashable {
    var room: String
    var seq: Int64
  }

  private let user: String
  /// The forwards that have the person's texts: they may be forwarded as well.
  private var forwards: Set<Place> = []

  package init(_ user: String) { self.user = user }

  /// Returns what an entry has of the person; `nil` = nothing.
  package mutating func record(of entry: Entry) -> PersonRecord? {
    if entry.room == RoomName.reports {
      return ReportRecord(entry)?.erased(of: user) == nil ? nil : .report(entry)
    }
    if entry.from == user { return .entry(entry) }
    guard entry.kind == .text, let source = entry.forward,
      source.from == user || forwards.contains(Place(room: source.room, seq: source.seq))
    else { return nil }
    forwards.insert(Place(room: entry.room, seq: entry.seq))
    return .forward(entry)
  }
}

/// A record as a line of the export of a person.
extension PersonRecord {
  /// Returns the line with its line break; `nil` if it is about other people: their forwards, blocks and
  /// reports.
  package func line(of user: String) -> [UInt8]? {
    var line: [UInt8] = []
    switch self {
    case .entry(let entry): ExportLine.append(entry, to: &line)
    case .report(let entry):
      guard let record = ReportRecord(entry), record.by == user else { return nil }
      line += Array("{\"type\":\"report\",\"room\":".utf8)
      line.append(jsonString: record.room)
      line += Array(",\"seq\":\(record.seq),\"at\":\(entry.at),\"reason\":".utf8)
      line.append(jsonString: record.reason)
      line += Array("}\n".utf8)
    case .marks(let marks): marks.append(to: &line)
    case .standing(let standing): standing.append(to: &line)
    case .block(let block):
      guard block.change.user == user else { return nil }
      block.append(to: &line)
    case .ban(let ban): ban.append(to: &line)
    case .seen(let at):
      line += Array("{\"type\":\"seen\",\"user\":".utf8)
      line.append(jsonString: user)
      line += Array(",\"at\":\(at)}\n".utf8)
    case .forward: return nil
    }
    return line
  }

  /// The part of an erasure that removes it; `nil` if nothing of it is to be removed, or is in no room.
  package func erasure(of user: String) -> LogRequest.Erasure? {
    switch self {
    case .entry(let entry), .forward(let entry):
      guard entry.erasedBody != nil else { return nil }
      return LogRequest.Erasure(user: user, room: entry.room, seq: entry.seq)
    case .report(let entry):
      guard let record = ReportRecord(entry), let erased = record.erased(of: user),
        erased.body != record.body
      else { return nil }
      return LogRequest.Erasure(user: user, room: entry.room, seq: entry.seq)
    case .marks(let marks): return LogRequest.Erasure(user: user, room: marks.room)
    case .standing(let standing): return LogRequest.Erasure(user: user, room: standing.room)
    case .block(let block):
      return LogRequest.Erasure(
        user: user, room: RoomName.direct(block.change.user, block.change.blocked))
    case .ban, .seen: return nil
    }
  }
}
