import Relay

/// What a relay that keeps files allows. 0 = no limit.
package struct FileSettings: Sendable {
  /// The size of one file.
  package let limitBytes: Int
  /// How fast each user's uploads are read.
  let budgets: Budgets<String>
  /// Returns the code of a text, for links.
  let code: FileLink.Code

  package init(
    limitBytes: Int, bytesPerSecond: Int, code: @escaping @Sendable (String) -> [UInt8]
  ) {
    self.limitBytes = limitBytes
    self.code = code
    var limits = UserBudget.Limits.requests(perSecond: 0)
    limits.bytesPerSecond = bytesPerSecond
    budgets = Budgets(limits)
  }
}
