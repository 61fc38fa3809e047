internal import Relay

/// Why a directory cannot continue now.
enum FetchError: Error, Equatable {
  /// The directory is being stopped.
  case stopped
  case limited(RateLimit)
  case failed(Failure)

  /// A failure that is retried later.
  struct Failure: Error, Equatable {
    /// A short sentence for users, without secrets.
    var text: String
    /// The service's id of the request, for support.
    var support: String?
    /// Details for the operator, in addition to the text.
    var detail: String?
    /// The URL of the page is no longer valid: the list is read from the start.
    var isLost = false
  }

  static func failed(_ text: String, support: String? = nil, detail: String? = nil) -> FetchError {
    .failed(Failure(text: text, support: support, detail: detail))
  }

  /// The problem as published by the relay; `nil` if the directory is stopped.
  var problem: DirectoryProblem? {
    switch self {
    case .stopped: nil
    case .limited(let limit): .limited(until: limit.isKnown ? limit.until : nil)
    case .failed(let failure): .failed(failure.text, support: failure.support)
    }
  }
}

/// A time before which no request is sent.
struct RateLimit: Equatable, Sendable {
  /// Milliseconds since 1970 by the local clock.
  var until: Int64
  /// Whether the server sent this time; otherwise it is a guess.
  var isKnown: Bool
}
