internal import Wire

/// What a provider says of itself (OpenID Connect Discovery 1.0 §3).
struct OIDCMetadata {
  /// How the relay proves that it is the client (OpenID Connect Core 1.0 §9).
  enum ClientProof {
    case none, basic, post
  }

  private static let urlBytesLimit = 2048

  let authorization: String
  let token: String
  let keys: String
  let userinfo: String?
  let scopes: [String]
  let proof: ClientProof
  /// Whether each answer to the browser names the provider (RFC 9207 §3).
  let namesIssuer: Bool

  init(_ answer: ProviderAnswer, of provider: OIDCProvider) throws(OIDCFailure) {
    if answer.isUnavailable { throw .unavailable }
    guard answer.status == 200, let json = JSONNode(answer.body), json.isObject else {
      throw OIDCFailure(reason: "there is no discovery document; is auth.oidc.issuer right?")
    }
    guard json["issuer"]?.string == provider.issuer else {
      throw OIDCFailure(
        reason: "the provider calls itself \(shown(json["issuer"]?.string)), which auth.oidc.issuer"
          + " has to be, byte for byte")
    }
    func endpoint(_ name: StaticString) throws(OIDCFailure) -> String {
      guard let url = json[name]?.string, Self.isUsable(url, issuer: provider.issuer) else {
        throw OIDCFailure(
          reason: "the discovery document's \(name) is \(shown(json[name]?.string)), and no address"
            + " of https or of the issuer's own origin")
      }
      return url
    }
    authorization = try endpoint("authorization_endpoint")
    token = try endpoint("token_endpoint")
    keys = try endpoint("jwks_uri")
    userinfo = json["userinfo_endpoint"] == nil ? nil : try endpoint("userinfo_endpoint")
    scopes = Self.texts(json["scopes_supported"])
    namesIssuer = json["authorization_response_iss_parameter_supported"]?.boolean == true
    let proofs = Self.texts(json["token_endpoint_auth_methods_supported"])
    if provider.clientSecret.isEmpty {
      proof = .none
    } else if proofs.isEmpty || proofs.contains("client_secret_basic") {
      proof = .basic
    } else if proofs.contains("client_secret_post") {
      proof = .post
    } else {
      throw OIDCFailure(
        reason: "the provider takes neither client_secret_basic nor client_secret_post")
    }
  }

  /// Whether a request may be sent there: over TLS, or to where the document comes from.
  static func isUsable(_ url: String, issuer: String) -> Bool {
    (url.hasPrefix("https://") || url.hasPrefix(origin(of: issuer) + "/"))
      && url.utf8.count <= urlBytesLimit
      && url.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
  }

  /// Scheme and host of an address, with the port if it has one.
  static func origin(of url: String) -> String {
    url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
      .joined(separator: "/")
  }

  static func texts(_ list: JSONNode?) -> [String] {
    list?.elements?.compactMap(\.string) ?? []
  }
}

/// A text of a provider's in a message to the operator.
func shown(_ text: String?) -> String {
  guard let text else { return "missing" }
  let visible = text.unicodeScalars.prefix(200).map { scalar in
    (0x20...0x7E).contains(scalar.value) ? Character(scalar) : "?"
  }
  return "\"\(String(visible))\""
}
