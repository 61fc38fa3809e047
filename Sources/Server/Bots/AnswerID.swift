/// The id of an answer: it names the entry that is answered. So an answer that is sent again is
/// the same entry to the relay, and what was answered can be read back from the log.
struct AnswerID: Hashable, Sendable, CustomStringConvertible {
  enum Kind: String, Sendable { case echo, script }

  var kind: Kind
  /// The entry that is answered.
  var seq: Int64
  /// Which of the messages that answer it: 1, 2 of an echo; the step of a script.
  var part: Int

  init(_ kind: Kind, to seq: Int64, part: Int) {
    self.kind = kind
    self.seq = seq
    self.part = part
  }

  /// `nil` for an id of any other make.
  init?(_ id: String) {
    let pieces = id.split(separator: "-", omittingEmptySubsequences: false)
    guard pieces.count == 3, let kind = Kind(rawValue: String(pieces[0])),
      let seq = Int64(pieces[1]), let part = Int(pieces[2])
    else { return nil }
    self.init(kind, to: seq, part: part)
  }

  var description: String { "\(kind.rawValue)-\(seq)-\(part)" }
}
