public import TLS

extension Client {
  /// The relay, the credentials and the settings of a client.
  public struct Configuration: Sendable {
    public var url: RelayURL
    /// Accepted by a relay in open mode; a token names its user itself.
    public var user: String?
    /// A JWT without line breaks or spaces, sent as `Authorization: Bearer`. If tokens can be
    /// renewed, `settings.renewsTokens` makes the client ask for the next one.
    public var token: String?
    /// The authorities that are trusted to certify the host of a `wss:` URL.
    public var trust: TLSTrust
    /// Timeouts and limits.
    public var settings: SessionSettings
    /// Whether to offer compression (RFC 7692): less traffic, for some CPU time at both ends.
    public var compresses: Bool

    /// Creates a configuration with the default settings.
    public init(
      url: RelayURL, user: String? = nil, token: String? = nil,
      trust: TLSTrust = .system, settings: SessionSettings = SessionSettings(),
      compresses: Bool = true
    ) {
      self.url = url
      self.user = user
      self.token = token
      self.trust = trust
      self.settings = settings
      self.compresses = compresses
    }
  }
}
