import Relay

/// What a relay that keeps files allows. 0 = no limit.
package struct FileSettings: Sendable {
  /// The size of one file.
  package let limitBytes: Int
  /// How fast each user's uploads are read.
  let budgets: Budgets<String>
  let price: UploadPrice
  /// Returns the code of a text, for links.
  let code: FileLink.Code

  /// - Parameters:
  ///   - bytesPerSecond: of a user's uploads.
  ///   - totalBytesPerSecond: of all uploads to this relay.
  package init(
    limitBytes: Int, bytesPerSecond: Int, totalBytesPerSecond: Int = 0,
    code: @escaping @Sendable (String) -> [UInt8]
  ) {
    self.limitBytes = limitBytes
    self.code = code
    var limits = UserBudget.Limits.requests(perSecond: 0)
    let rates = [bytesPerSecond, totalBytesPerSecond].filter { $0 > 0 }
    limits.bytesPerSecond = rates.min() ?? 0
    budgets = Budgets(limits)
    price = UploadPrice(bytesPerSecond: totalBytesPerSecond)
  }
}
