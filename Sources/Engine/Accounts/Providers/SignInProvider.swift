/// A service at which people sign in, by the authorization code flow (RFC 6749 §4.1) with PKCE (RFC
/// 7636). Pure: what it asks for, another part sends.
public protocol SignInProvider: Sendable {
  /// Its name in the paths of the relay.
  var method: String { get }
  /// Its name for people.
  var title: String { get }
  /// Whose people are bound to it (`ProviderBinding`).
  var issuer: String { get }
  /// What the relay is registered as there.
  var clientID: String { get }

  /// Returns the requests that find out where the browser is sent to.
  func begin(_ attempt: ProviderAttempt) -> any ProviderExchange

  /// Returns the requests that find out who has signed in.
  /// - Parameters:
  ///   - code: what the provider has sent the browser back with.
  ///   - issuer: who says that it has sent it (RFC 9207).
  ///   - now: milliseconds since 1970.
  func exchange(
    _ code: String, from issuer: String?, _ attempt: ProviderAttempt, now: Int64
  ) -> any ProviderExchange

  /// Returns the requests that find out whether a person may still sign in.
  /// - Parameter token: of the person's last sign-in.
  func confirm(_ token: String) -> any ProviderExchange
}

extension SignInProvider {
  /// A provider that gives no tokens to ask with.
  public func confirm(_ token: String) -> any ProviderExchange {
    FinishedExchange(outcome: .confirmed)
  }
}

/// The secrets of one sign-in at a provider.
public struct ProviderAttempt: Equatable, Sendable {
  public var state: String
  public var verifier: String
  /// The verifier's SHA-256 as base64url (RFC 7636 §4.2).
  public var challenge: String
  public var nonce: String
  /// Where the provider sends the browser back to: each provider has an address of its own, so that no
  /// answer of one can be taken for that of another (RFC 9700 §2.1).
  public var redirectURI: String

  public init(
    state: String, verifier: String, challenge: String, nonce: String, redirectURI: String
  ) {
    self.state = state
    self.verifier = verifier
    self.challenge = challenge
    self.nonce = nonce
    self.redirectURI = redirectURI
  }
}

/// The requests to a provider for one sign-in, one after the other, as a value that takes answers and
/// returns what is next.
public protocol ProviderExchange: Sendable {
  /// - Parameter answer: to the last request; `nil` at the start.
  mutating func next(_ answer: ProviderAnswer?) -> ProviderStep
}

public enum ProviderStep: Sendable {
  case request(ProviderRequest)
  case finished(ProviderOutcome)
  /// With the reason, for the operator; may be empty.
  case failed(SignInFailure, String = "")
}

/// What the requests to a provider have found out.
public enum ProviderOutcome: Sendable {
  /// Where the browser is sent to.
  case browser(to: String)
  case person(ProviderPerson)
  /// The person may still sign in.
  case confirmed
  /// The person may not any more, with the reason as the end of a sentence about them.
  case gone(String)
}

/// Nothing has to be asked for.
struct FinishedExchange: ProviderExchange {
  let outcome: ProviderOutcome

  mutating func next(_ answer: ProviderAnswer?) -> ProviderStep { .finished(outcome) }
}

/// A request to a provider.
public struct ProviderRequest: Equatable, Sendable {
  public var url: String
  /// `Name: value`.
  public var headers: [String]
  /// Sent by POST, as application/x-www-form-urlencoded if no header says otherwise; `nil` = a GET.
  public var content: String?
  /// `NAME:PASSWORD`, sent as RFC 7617 has it.
  public var basic: String?
  /// An answer that was given before will do, if it is no older than this and was not asked for with a longer
  /// time; only of a GET that says nothing of a person.
  public var maxAgeSeconds: Int?

  public init(
    url: String, headers: [String] = [], content: String? = nil, basic: String? = nil,
    maxAgeSeconds: Int? = nil
  ) {
    self.url = url
    self.headers = headers
    self.content = content
    self.basic = basic
    self.maxAgeSeconds = maxAgeSeconds
  }
}

/// What a provider answers, of a bounded length.
public struct ProviderAnswer: Equatable, Sendable {
  public var status: Int
  public var body: [UInt8]

  public init(status: Int, body: [UInt8]) {
    self.status = status
    self.body = body
  }

  /// Whether the provider cannot answer now, which is not the person's fault.
  var isUnavailable: Bool { status >= 500 || status == 429 }
}

/// A person as a provider knows them.
public struct ProviderPerson: Equatable, Sendable {
  public var binding: ProviderBinding
  /// The name there, which may change and be given to another person.
  public var login: String
  public var name: String?
  /// The address of a picture, as `PictureAddress` admits it.
  public var picture: String?
  /// What the provider can be asked with whether the person is still there; `nil` = it cannot be asked.
  public var token: String?

  public init(
    binding: ProviderBinding, login: String, name: String?, picture: String? = nil,
    token: String? = nil
  ) {
    self.binding = binding
    self.login = login
    self.name = name
    self.picture = picture
    self.token = token
  }
}

/// Addresses of pictures, which the relay fetches for those who look at a person.
enum PictureAddress {
  /// Returns an address that a provider has named: https, or of the provider itself; `nil` for any other.
  /// - Parameter provider: the addresses that the operator has configured, without a slash at the end.
  static func admitted(_ text: String?, of provider: [String]) -> String? {
    guard let text, isValid(text),
      text.hasPrefix("https://") || provider.contains(where: { text.hasPrefix("\($0)/") })
    else { return nil }
    return text
  }

  /// Whether it is an http or https address of printable ASCII, and not too long.
  static func isValid(_ text: String) -> Bool {
    text.utf8.count <= AccountSettings.pictureBytes
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }
      && (text.hasPrefix("https://") || text.hasPrefix("http://"))
  }
}

/// Why a sign-in at a provider has failed: the code that the page gets.
public enum SignInFailure: String, Error, Sendable {
  /// The person has refused.
  case accessDenied = "access_denied"
  /// The sign-in took too long, or was already used.
  case expired
  /// Another browser has begun it.
  case stateMismatch = "state_mismatch"
  /// The provider does not answer, or with an error of its own.
  case providerUnavailable = "provider_unavailable"
  /// The provider's answer is not what it has to be.
  case providerRefused = "provider_refused"
  /// The person does not belong to the organization or group.
  case notAMember = "not_a_member"
  /// The organization wants the person to sign in to it first, or an owner to approve this application.
  case organizationRefused = "organization_refused"
  case accountDisabled = "account_disabled"
  /// Too many sign-ins are under way, or the address has tried too often.
  case tooMany = "too_many"
}

/// `application/x-www-form-urlencoded`, as queries and contents have it.
enum FormText {
  static func encode(_ fields: [(String, String)]) -> String {
    fields.map { "\(escaped($0.0))=\(escaped($0.1))" }.joined(separator: "&")
  }

  /// Percent-encodes all but unreserved characters (RFC 3986 §2.3).
  static func escaped(_ text: String) -> String {
    let hex = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 48...57, 65...90, 97...122, 45, 46, 95, 126: bytes.append(byte)
      default: bytes += [37, hex[Int(byte >> 4)], hex[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
