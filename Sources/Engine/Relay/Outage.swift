/// Reports to the operator when an operation begins to fail and when it works again, once each.
package struct Outage {
  private let action: String
  private let path: String
  private let check: String
  private let meanwhile: String
  private let report: @Sendable (String) -> Void
  package private(set) var isFailing = false
  /// The number of failed attempts.
  package private(set) var failures = 0

  /// - Parameters:
  ///   - path: what fails.
  ///   - check: what the operator is to check; `nil` = the disk.
  ///   - action: the operation, as the beginning of a sentence.
  ///   - meanwhile: the effect of the failure, as the beginning of a sentence.
  package init(
    _ action: String, path: String, check: String? = nil, meanwhile: String,
    report: @escaping @Sendable (String) -> Void
  ) {
    self.action = action
    self.path = path
    self.check = check ?? "the disk of \(path)"
    self.meanwhile = meanwhile
    self.report = report
  }

  /// Records the result of the last attempt; `nil` if it succeeded.
  package mutating func update(_ failure: StoreFailure?) {
    if failure != nil { failures += 1 }
    guard isFailing != (failure != nil) else { return }
    isFailing.toggle()
    if let failure {
      let what = failure.description
      report(
        "\(action) fails: \(what.hasSuffix(".") ? what : "\(what).") \(meanwhile); check \(check).")
    } else {
      report("\(action) works again: \(path).")
    }
  }
}
