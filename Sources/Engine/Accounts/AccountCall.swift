/// A request about accounts, as it came over HTTP.
public struct AccountCall: Sendable {
  /// What is asked for.
  public enum Request: Equatable, Sendable {
    case invite
    case invitations
    case removeInvitation(id: String)
    case showInvitation(code: String)
    case openInvitation(code: String)
    case startDevice
    case pollDevice
    case showDevice(code: String)
    case decideDevice(code: String)
    case sessions
    case endSession(id: String)
    case profile
    case rename
    case beginSignIn(method: String, returnPath: String)
    case finishSignIn(method: String, ProviderReturn)
    case administer(Administration)

    /// Whether a browser goes there, which shows a person whatever is answered.
    public var isOfBrowser: Bool {
      switch self {
      case .beginSignIn, .finishSignIn: true
      default: false
      }
    }
  }

  /// What an operator asks for.
  public enum Administration: Equatable, Sendable {
    /// The accounts whose users come after one.
    case list(after: String)
    /// The content says what changes.
    case change(user: String)
    case endSessions(of: String)
    case endSession(String, of: String)
  }

  /// What a provider sends the browser back with (RFC 6749 §4.1.2, RFC 9207).
  public struct ProviderReturn: Equatable, Sendable {
    public var state: String
    public var code: String?
    public var error: String?
    public var issuer: String?

    public init(state: String, code: String?, error: String?, issuer: String?) {
      self.state = state
      self.code = code
      self.error = error
      self.issuer = issuer
    }
  }

  /// The signed-in user who asks.
  public struct Caller: Equatable, Sendable {
    /// The relay itself, for a program of its operators.
    public static let relay = ""

    public var user: String
    /// The session of the device.
    public var session: String?
    public var isOperator: Bool
    /// Whether the user is an owner or a moderator of all rooms that the request names.
    public var managesRooms: Bool

    public init(
      user: String, session: String?, isOperator: Bool, managesRooms: Bool = false
    ) {
      self.user = user
      self.session = session
      self.isOperator = isOperator
      self.managesRooms = managesRooms
    }
  }

  public var request: Request
  /// `nil` = the request has no credentials.
  public var caller: Caller?
  /// The content of the request: JSON, or of `pollDevice` also a form.
  public var content: [UInt8]
  /// Where the request comes from: an IPv4 address, or an IPv6 network.
  public var address: String
  /// The secret of the browser that has begun a sign-in.
  public var browserSecret: String?
  /// What the browser says that it is; may be empty.
  public var userAgent: String

  public init(
    _ request: Request, caller: Caller?, content: [UInt8] = [], address: String,
    browserSecret: String? = nil, userAgent: String = ""
  ) {
    self.request = request
    self.caller = caller
    self.content = content
    self.address = address
    self.browserSecret = browserSecret
    self.userAgent = userAgent
  }
}

/// The answer to a request about accounts, to be sent over HTTP.
public struct AccountAnswer: Sendable {
  public enum Content: Sendable {
    case nothing
    case json([UInt8])
    /// A problem in the form of the relay's interface.
    case problem(AccountProblem)
    case redirect(to: String)
  }

  /// What happens to the cookies of the browser.
  public enum Cookie: Equatable, Sendable {
    /// The device is signed in with this token.
    case session(String)
    /// The device is signed out.
    case none
    /// The browser that comes back from a provider has to have this secret.
    case attempt(String)
    /// The browser has come back, and is signed in with the token, if there is one.
    case attemptEnded(token: String?)
  }

  public var status: Int
  public var content: Content
  public var cookie: Cookie?
  public var joining: Joining?
  /// What an operator has done, to be recorded.
  public var act: Act?

  public struct Act: Equatable, Sendable {
    public var verb: String
    public var user: String
    public var session: String?
  }

  /// The rooms that a new user becomes a member of.
  public struct Joining: Sendable {
    public var user: String
    public var rooms: [String]
    /// The user who made the invitation; empty = an operator on the relay's machine.
    public var maker: String
    public var isByOperator: Bool
    /// Names the invitation, and which use of it this is.
    public var invitation: String
    public var use: Int
  }

  public init(status: Int, _ content: Content, cookie: Cookie? = nil) {
    self.status = status
    self.content = content
    self.cookie = cookie
  }

  public static func problem(_ problem: AccountProblem) -> AccountAnswer {
    AccountAnswer(status: problem.status, .problem(problem))
  }
}
