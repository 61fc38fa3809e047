internal import Relay

/// Reports to the operator when an operation begins to fail and when it works again, once each.
struct Outage {
  private let action: String
  private let path: String
  private let meanwhile: String
  private let report: @Sendable (String) -> Void
  private(set) var isFailing = false

  /// - Parameters:
  ///   - action: the operation, as the beginning of a sentence.
  ///   - meanwhile: the effect of the failure, as the beginning of a sentence.
  init(
    _ action: String, path: String, meanwhile: String,
    report: @escaping @Sendable (String) -> Void
  ) {
    self.action = action
    self.path = path
    self.meanwhile = meanwhile
    self.report = report
  }

  /// Records the result of the last attempt; `nil` if it succeeded.
  mutating func note(_ failure: StoreFailure?) {
    guard isFailing != (failure != nil) else { return }
    isFailing.toggle()
    if let failure {
      report(
        "\(action) fails: \(failure.description). \(meanwhile); check the disk of \(path).")
    } else {
      report("\(action) works again: \(path).")
    }
  }
}
