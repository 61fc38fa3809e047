internal import Relay

/// Tells the operator when something begins to fail and when it works again, once each.
struct Outage {
  private let action: String
  private let path: String
  private let meanwhile: String
  private let report: @Sendable (String) -> Void
  private(set) var isFailing = false

  /// - Parameters:
  ///   - action: as the beginning of a sentence.
  ///   - meanwhile: what the failure means, as the beginning of another.
  init(
    _ action: String, path: String, meanwhile: String,
    report: @escaping @Sendable (String) -> Void
  ) {
    self.action = action
    self.path = path
    self.meanwhile = meanwhile
    self.report = report
  }

  /// Takes how the last attempt went; `nil` if it went well.
  mutating func note(_ failure: StoreFailure?) {
    guard isFailing != (failure != nil) else { return }
    isFailing.toggle()
    if let failure {
      report(
        "\(action) fails: \(failure.description). \(meanwhile); see to the disk of \(path).")
    } else {
      report("\(action) works again: \(path).")
    }
  }
}
