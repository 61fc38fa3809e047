extension Configuration {
  /// `admin.*`: access to the administration.
  public struct Administration: Equatable, Sendable {
    /// A bearer token that makes a program an operator over HTTP; empty = none.
    public var token = ""
  }

  var administrationContradictions: [Contradiction] {
    if admin.token.isEmpty { return [] }
    let advice = "\"openssl rand -hex 32\" creates one"
    if admin.token.utf8.count < ConfigurationRules.secretBytes {
      return [
        Contradiction(
          key: "admin.token",
          found: "has only \(admin.token.utf8.count) bytes and can be guessed",
          expected: "expected at least \(ConfigurationRules.secretBytes); \(advice)")
      ]
    }
    guard admin.token == metrics.token else { return [] }
    return [
      Contradiction(
        key: "admin.token", found: "is also metrics.token, whose holder only reads the metrics",
        expected: "expected another one; \(advice)")
    ]
  }
}
