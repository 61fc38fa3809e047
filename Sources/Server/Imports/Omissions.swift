/// What an import leaves out: how many, by reason, and where the first of what is wrong is.
struct Omissions: Sendable {
  private struct Omission {
    var count: Int
    var first: String?
  }

  private var reasons: [String: Omission] = [:]

  var isEmpty: Bool { reasons.isEmpty }

  /// - Parameter place: the file, and the line or the message; `nil` for what an import never takes.
  mutating func add(_ reason: String, count: Int = 1, at place: String? = nil) {
    reasons[reason, default: Omission(count: 0, first: place)].count += count
  }

  mutating func merge(_ other: Omissions) {
    for (reason, omission) in other.reasons {
      add(reason, count: omission.count, at: omission.first)
    }
  }

  /// One for each reason, in the order of the reasons.
  var lines: [String] {
    reasons.sorted { $0.key < $1.key }.map { reason, omission in
      "\(omission.count): \(reason)\(omission.first.map { "; the first: \($0)" } ?? "")"
    }
  }
}
