internal import Directories
internal import YAML

extension Configuration {
  /// An element of `auth.keys`: a key for tokens whose header names it.
  public struct TokenKey: Equatable, Sendable {
    /// Its name, which the header of a token has as `kid`.
    public var kid: String
    /// As `Auth.publicKey`; empty = none.
    public var publicKey = ""
    /// As `Auth.secret`; empty = none.
    public var secret = ""

    /// Creates a named key without material.
    public init(kid: String) { self.kid = kid }

    static let keys = ["kid", "public_key", "secret"]

    /// Reads one element of `auth.keys`; `nil` if it is faulty. No message has a value: it may be a
    /// secret in the wrong place.
    init?(reading fields: inout YAMLFields, others: [TokenKey]) {
      func text(_ name: String, _ expected: String, isValid: (String) -> Bool = { _ in true })
        -> String?
      {
        guard fields.has(name) else { return nil }
        let value = fields.optional(name, "") { $0.text ?? "" } ?? ""
        if value.isEmpty || !isValid(value) {
          fields.report(name, "is invalid", expected)
          return nil
        }
        return value
      }
      let before = fields.faults.count
      if !fields.has("kid"), before == 0 {
        fields.report("kid", "is missing", "every key of auth.keys needs a name")
      }
      let kid = text(
        "kid", ConfigurationRules.expectedKeyName, isValid: ConfigurationRules.isKeyName)
      fields.owner = kid.map { "the key \(YAMLText.quoted($0))" }
      self.init(kid: kid ?? "")
      if let kid, others.contains(where: { $0.kid == kid }) {
        fields.report("kid", "is the name of another key", "use a different name for each key")
      }
      publicKey = text("public_key", "expected a file, or PEM") ?? ""
      let shortest = ConfigurationRules.secretBytes
      secret =
        text(
          "secret",
          "expected at least \(shortest) bytes; \"openssl rand -hex 32\" creates a secret",
          isValid: { $0.utf8.count >= shortest }) ?? ""
      if before == 0, fields.has("public_key") == fields.has("secret") {
        fields.report(
          "secret",
          fields.has("secret") ? "and public_key are both set" : "and public_key are missing",
          "set secret for HS256, or public_key for RS256 or ES256")
      }
      if fields.faults.count > 0 { return nil }
    }

    /// The key as YAML, one line per field.
    var described: [String] {
      [
        "kid: \(YAMLText.written(kid))",
        secret.isEmpty ? "public_key: \(YAMLText.written(publicKey))" : "secret: \"(hidden)\"",
      ]
    }
  }
}

extension Configuration.Auth {
  /// Whether `jwks` is a URL, not a file.
  package var jwksIsURL: Bool { Self.isURL(jwks) }

  static func isURL(_ text: String) -> Bool {
    ["http://", "https://"].contains { text.lowercased().hasPrefix($0) }
  }

  /// Whether keys may be read from there: over a network only by https, since whoever can alter them
  /// can sign tokens.
  static func isKeySource(_ text: String) -> Bool {
    guard isURL(text) else { return true }
    return WebAddress(text).map { $0.isEncrypted || $0.isLoopback } ?? false
  }

  /// The keys that are set but have no meaning in the mode.
  var unusedKeys: [String] {
    guard mode != .jwt else { return [] }
    let defaults = Configuration.Auth()
    return [
      ("keys", keys != defaults.keys), ("jwks", jwks != defaults.jwks),
      ("issuer", issuer != defaults.issuer), ("audience", audience != defaults.audience),
      ("not_before", notBefore != defaults.notBefore),
      ("user_claim", userClaim != defaults.userClaim),
    ].filter(\.1).map { "auth.\($0.0)" }
  }
}
