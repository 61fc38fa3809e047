import Wire

/// What is wrong for as long as it lasts. A notice is gone after some seconds, and the next one
/// replaces it; a condition stays in the bar, and the help says it in full.
extension Chat {
  public enum Condition: Int, CaseIterable, Comparable, Sendable {
    /// What is written cannot be stored on this machine.
    case notSaved
    /// There is no token that the relay accepts, or none for when the current one ends.
    case noToken
    /// The relay has ended the session of this device.
    case signedOut
    /// The relay answers, and stores nothing.
    case notStored
    /// The clock of this machine, or the relay's, is wrong.
    case otherClock

    public static func < (a: Condition, b: Condition) -> Bool { a.rawValue < b.rawValue }

    /// In the bar.
    var label: String {
      switch self {
      case .notSaved: "not saved"
      case .noToken: "no token"
      case .signedOut: "signed out"
      case .notStored: "not stored"
      case .otherClock: "clock"
      }
    }
  }

  /// A smaller difference of the clocks is not visible in times of messages.
  static let clockToleranceMilliseconds: Int64 = 120_000

  /// Begins a condition, or ends it (`nil`).
  mutating func set(_ condition: Condition, _ text: String?) {
    if let text, conditions[condition] != text { complain(text) }
    conditions[condition] = text
  }

  /// Compares the clocks when the relay has told its time.
  mutating func compareClocks(_ welcome: ServerMessage.Welcome) {
    let ahead = now - welcome.time
    guard abs(ahead) > Self.clockToleranceMilliseconds else { return set(.otherClock, nil) }
    let minutes = (abs(ahead) + 30_000) / 60_000
    let much = minutes < 120 ? "\(minutes) minutes" : "\(minutes / 60) hours"
    set(
      .otherClock,
      "This machine's clock is \(much) \(ahead > 0 ? "ahead of" : "behind") the relay's: times of"
        + " messages look wrong. Set the clock that is wrong.")
  }

  // MARK: Quitting

  /// What would be lost if the program ended now, for people; `nil` for nothing.
  var loss: String? {
    let messages = outgoing.count { !$0.isKept }
    var drafts = 0
    if conditions[.notSaved] != nil {
      drafts = conversations.values.count {
        $0.draftVersion == nil && !$0.draft.isEmpty && $0.room != timeline?.room
      }
      if timeline != nil, !draftText.isEmpty { drafts += 1 }
    }
    let uploads = outgoing.count { $0.isUploading && $0.upload?.isKept == false }
    let parts = [(messages, "message"), (drafts, "draft"), (uploads, "upload")].filter { $0.0 > 0 }
      .map { $0.0 == 1 ? "1 \($0.1)" : "\($0.0) \($0.1)s" }
    return parts.isEmpty ? nil : parts.joined(separator: " and ")
  }

  /// Quits, after a question if something would be lost; asked again, it quits.
  mutating func askToQuit(_ effects: inout [Effect]) {
    if loss != nil, overlay != .confirmQuitting {
      overlay = .confirmQuitting
    } else {
      quit(&effects)
    }
  }

  mutating func quit(_ effects: inout [Effect]) {
    overlay = nil
    saveDraft(&effects)
    stopTyping(&effects)
    effects.append(.quit)
  }

  /// The messages that are only in memory.
  public var unkept: [Outgoing] { outgoing.filter { !$0.isKept } }
}
