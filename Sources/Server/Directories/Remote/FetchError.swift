internal import Relay

/// What keeps a directory from going on for now.
enum FetchError: Error, Equatable {
  /// The directory ends.
  case stopped
  case limited(RateLimit)
  case failed(Failure)

  /// Something that is tried again later.
  struct Failure: Error, Equatable {
    /// For people: a short sentence without secrets.
    var text: String
    /// What whoever is asked for help can find the request by.
    var support: String?
    /// For the operator, besides the text.
    var detail: String?
    /// The way to the page has changed: it is begun anew.
    var isLost = false
  }

  static func failed(_ text: String, support: String? = nil, detail: String? = nil) -> FetchError {
    .failed(Failure(text: text, support: support, detail: detail))
  }

  /// As the relay knows it; `nil` at the end.
  var problem: DirectoryProblem? {
    switch self {
    case .stopped: nil
    case .limited(let limit): .limited(until: limit.isKnown ? limit.until : nil)
    case .failed(let failure): .failed(failure.text, support: failure.support)
    }
  }
}

/// A time before which nothing is asked.
struct RateLimit: Equatable, Sendable {
  /// Milliseconds since 1970 by our clock.
  var until: Int64
  /// Whether the server said so, and it is not our guess.
  var isKnown: Bool
}
