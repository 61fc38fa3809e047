internal import Wire

/// `DirectState` as stores and exports keep it: `bo 5 9;bo 12 -;?ada https://id.example.org;=ada 3 4`, the hidden
/// runs of `bo`, of which the last one lasts, a request to `ada`, and how far she had read and received when the
/// two were separated.
extension DirectState {
  package var text: String {
    var parts = hidden.map { "\($0.sender) \($0.first) \($0.last.map(String.init) ?? "-")" }
    if let request { parts.append("?\(request.user) \(request.issuer)") }
    parts += standstills.map { "=\($0.user) \($0.read) \($0.received)" }
    return parts.joined(separator: ";")
  }

  /// Parses the text; returns `nil` for anything else.
  package init?(text: String) {
    self.init()
    for part in text.split(separator: ";") {
      let words = part.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      if part.first == "?", words.count == 2 {
        let user = String(words[0].dropFirst())
        guard UserName.isValid(user), request == nil else { return nil }
        request = Request(user: user, issuer: words[1])
        continue
      }
      if part.first == "=", words.count == 3 {
        let (user, seqs) = (String(words[0].dropFirst()), 0...Entry.sequenceLimit)
        guard UserName.isValid(user), let read = Int64(words[1]), seqs.contains(read),
          let received = Int64(words[2]), seqs.contains(received)
        else { return nil }
        standstills.append(Standstill(user: user, read: read, received: received))
        continue
      }
      let seqs = 1...Entry.sequenceLimit
      guard words.count == 3, UserName.isValid(words[0]), let first = Int64(words[1]),
        seqs.contains(first)
      else { return nil }
      guard words[2] != "-" else {
        hidden.append(HiddenRun(sender: words[0], first: first))
        continue
      }
      guard let last = Int64(words[2]), (first...Entry.sequenceLimit).contains(last) else {
        return nil
      }
      hidden.append(HiddenRun(sender: words[0], first: first, last: last))
    }
  }
}
