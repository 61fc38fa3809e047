import WebSocket

/// Input: a byte for role, limits and whether we closed before; a byte that cuts; where messages
/// are compressed a byte for what was agreed; then frames.
enum FrameTargets {
  private static let limits = [
    Limits(frameBytes: 0, messageBytes: 0, fragments: 0),
    Limits(frameBytes: 100, messageBytes: 150, fragments: 4),
    Limits(frameBytes: 65_536, messageBytes: 65_536, fragments: 1024),
    Limits(frameBytes: 0, messageBytes: 10, fragments: 2),
  ]

  private struct Setting {
    let role: Role
    let limits: Limits
    let closedBefore: Bool
    let seed: UInt8
    let agreement: DeflateAgreement?

    init(_ input: inout FuzzInput, deflates: Bool = false) {
      let choice = input.choice()
      role = choice & 1 == 0 ? .server : .client
      limits = FrameTargets.limits[Int(choice >> 1 & 3)]
      closedBefore = choice & 8 != 0
      seed = input.choice()
      agreement = deflates ? FrameTargets.agreement(input.choice()) : nil
    }

    func reader() -> FrameReader {
      FrameReader(role: role, limits: limits, closedBefore: closedBefore, deflate: agreement)
    }
  }

  static func checkFrames(_ input: inout FuzzInput) throws(FuzzFinding) {
    try checkFrames(input, Setting(&input))
  }

  static func checkDeflate(_ input: inout FuzzInput) throws(FuzzFinding) {
    let setting = Setting(&input, deflates: true)
    try checkCuts(input, setting)
    try checkFrames(input, setting)
  }

  private static func agreement(_ choice: UInt8) -> DeflateAgreement {
    var response = DeflateParameters()
    response.serverNoContextTakeover = choice & 1 == 0
    response.clientNoContextTakeover = choice & 2 == 0
    response.serverMaxWindowBits = 8 + Int(choice >> 2 & 7)
    response.clientMaxWindowBits = 8 + Int(choice >> 5 & 7)
    return DeflateAgreement(response)
  }

  private static func checkFrames(
    _ input: FuzzInput, _ setting: Setting
  ) throws(FuzzFinding) {
    try checkHeader(Array(input.rest), as: setting.role)

    var reader = setting.reader()
    for piece in Cuts(input.rest, seed: setting.seed) { try reader.feed(piece) }
    let outcome = reader.outcome
    try checkAnswers(of: outcome, role: setting.role, closedBefore: setting.closedBefore)

    // If the other end writes what was read, it reads the same again.
    var again = FrameReader(
      role: setting.role, limits: Self.limits[0], closedBefore: setting.closedBefore,
      deflate: setting.agreement)
    try again.feed(
      FrameReader.encoded(outcome.events, for: setting.role, deflate: setting.agreement)[...])
    try expect(again.outcome.violation == nil, "written frames violate the rules for reading")
    try expect(
      again.outcome.events == outcome.events, "events differ after writing and reading")
    // After a violation our close is last, and no event tells of the violation.
    try expect(outcome.output.starts(with: again.outcome.output), "the answers differ")
    try expect(
      outcome.violation != nil || again.outcome.output.count == outcome.output.count,
      "the answers are incomplete")
  }

  static func checkCuts(_ input: inout FuzzInput) throws(FuzzFinding) {
    try checkCuts(input, Setting(&input))
  }

  private static func checkCuts(_ input: FuzzInput, _ setting: Setting) throws(FuzzFinding) {
    var whole = setting.reader()
    try whole.feed(input.rest)
    for seed in [setting.seed, 1] {
      var cut = setting.reader()
      for piece in Cuts(input.rest, seed: seed) { try cut.feed(piece) }
      try expect(
        cut.outcome == whole.outcome,
        "in one piece \(whole.outcome), in pieces \(cut.outcome)")
      try expect(
        cut.connection.isBetweenMessages == whole.connection.isBetweenMessages,
        "the pieces leave the connection elsewhere")
    }
  }

  /// A header is written as it was read, since its length has the shortest form.
  private static func checkHeader(_ bytes: [UInt8], as role: Role) throws(FuzzFinding) {
    guard
      let read = try? FrameHeader.read(bytes.span, as: role, payloadLimitBytes: 0, allowsRSV1: true)
    else { return }
    var written: [UInt8] = []
    read.append(to: &written)
    try expect(written[...] == bytes.prefix(read.headerLength), "\(read) is written as \(written)")
  }

  /// Each ping is answered, the peer's close too unless ours was sent first, and nothing else.
  private static func checkAnswers(
    of outcome: FrameReader.Outcome, role: Role, closedBefore: Bool
  ) throws(FuzzFinding) {
    var peer = FrameReader(
      role: role == .server ? .client : .server, limits: Self.limits[0], closedBefore: false)
    try peer.feed(outcome.output[...])
    var expected: [FrameReader.Event] = []
    if outcome.violation != nil || closedBefore {
      expected.append(.close(.goingAway, "ours"))
    }
    try expect(peer.outcome.violation == nil, "an answer broke a rule: \(outcome.output)")
    let answers = outcome.events.compactMap { event -> FrameReader.Event? in
      switch event {
      case .ping(let payload): .pong(payload)
      case .close(let code, _): closedBefore ? nil : .close(code, "")
      case .message, .pong: nil
      }
    }
    // Our own close is the last frame that the peer reads: it ignores our later answers.
    let seen = closedBefore ? expected : answers + expected
    try expect(peer.outcome.events == seen, "answered \(peer.outcome.events), not \(seen)")
  }
}
