import Platform

/// What two relays tell each other while one takes over from the other, in this order. Each side waits for the
/// other's next message; its end says that the other process has ended.
enum TakeOverMessage: Equatable {
  /// To the running relay: which process wants to take over.
  case hello(process: Int32)
  /// From the running relay: its sockets, whose descriptors come with this.
  case sockets(isShared: Bool, hasOperators: Bool)
  /// To the running relay: the new one has done what it can without the store.
  case release
  /// From the earlier relay: the store is closed.
  case released
  /// To the earlier relay: the new one serves.
  case serving

  /// The texts may grow, and keep their meaning: relays of two versions talk to each other.
  var text: String {
    switch self {
    case .hello(let process): "take-over 1 \(process)"
    case .sockets(let isShared, let hasOperators):
      "sockets\(isShared ? " shared" : "")\(hasOperators ? " operators" : "")"
    case .release: "release"
    case .released: "released"
    case .serving: "serving"
    }
  }

  init?(_ text: String) {
    let words = text.split(separator: " ")
    switch words.first {
    case "take-over":
      guard words.count >= 3, words[1] == "1", let process = Int32(words[2]) else { return nil }
      self = .hello(process: process)
    case "sockets":
      self = .sockets(
        isShared: words.contains("shared"), hasOperators: words.contains("operators"))
    case "release": self = .release
    case "released": self = .released
    case "serving": self = .serving
    default: return nil
    }
  }
}

extension ProcessChannel {
  func send(_ message: TakeOverMessage, _ descriptors: [Int32] = []) throws(SystemError) {
    try send(message.text, descriptors)
  }
}
