public import TLS

extension Client {
  /// Where to connect, and as whom.
  public struct Configuration: Sendable {
    /// The relay.
    public var url: RelayURL
    /// Believed by a relay in open mode; a token names the user by itself.
    public var user: String?
    /// A JWT, sent as `Authorization: Bearer`. Without line breaks or spaces. Where there are more,
    /// `settings.renewsTokens` makes the client ask for them.
    public var token: String?
    /// Where the URL is `wss:`, whom to believe to be its host.
    public var trust: TLSTrust
    /// Times and bounds.
    public var settings: SessionSettings
    /// Whether to offer the relay that messages are compressed (RFC 7692): less to transfer, for
    /// some work at both ends.
    public var compresses: Bool

    /// A configuration with the usual times.
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
