/// The id of an answer, which names the entry that is answered. So the relay recognizes a resent
/// answer as the same entry, and a bot can read back from the log which entries it has answered.
struct AnswerID: Hashable, Sendable, CustomStringConvertible {
  enum Kind: String, Sendable { case echo, script }

  var kind: Kind
  /// The entry that is answered.
  var seq: Int64
  /// The number of the message within the answer: 1 or 2 for an echo, the step for a script.
  var part: Int

  init(_ kind: Kind, to seq: Int64, part: Int) {
    self.kind = kind
    self.seq = seq
    self.part = part
  }

  /// Parses an id; `nil` if it is not an answer's.
  init?(_ id: String) {
    let pieces = id.split(separator: "-", omittingEmptySubsequences: false)
    guard pieces.count == 3, let kind = Kind(rawValue: String(pieces[0])),
      let seq = Int64(pieces[1]), let part = Int(pieces[2])
    else { return nil }
    self.init(kind, to: seq, part: part)
  }

  var description: String { "\(kind.rawValue)-\(seq)-\(part)" }
}
