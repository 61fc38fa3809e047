internal import Directories
internal import Platform
internal import Relay
package import YAML

/// The definition of one configuration key, used by the reader, the environment and the printer:
/// all of them iterate over `ConfigurationKey.all`.
package struct ConfigurationKey: Sendable {
  enum Shape: Sendable {
    case scalar
    /// In the environment its elements are separated by commas.
    case list
    /// Read by the reader itself, as is a mapping; not available in the environment.
    case objects
  }

  /// As in YAML, prefixed by the section and a dot: `limits.burst`.
  package var path: String
  /// The rest of the sentence "expected …".
  package var expected: String
  var shape = Shape.scalar
  /// What the elements of a list are.
  var element: Element?
  /// The valid range of a number.
  package var range: ClosedRange<Int>?
  /// Whether messages must not contain the value.
  var isSecret = false
  /// Sets the value; returns `false`, without changing the configuration, if the value is invalid.
  package var set: @Sendable (YAMLNode, inout Configuration) -> Bool = { _, _ in false }
  /// Returns the value as YAML.
  var shown: @Sendable (Configuration) -> String = { _ in "" }
  /// Whether two configurations have different values.
  var differs: @Sendable (Configuration, Configuration) -> Bool = { _, _ in false }

  struct Element: Sendable {
    /// The rest of the sentence "expected …".
    var expected: String
    var isValid: @Sendable (YAMLNode) -> Bool
  }

  /// The environment variable: `RELAY_LIMITS_BURST`.
  var variable: String {
    "RELAY_" + String(path.map { $0 == "." ? "_" : $0 }).uppercased()
  }

  /// The part before the dot; `nil` without one.
  package var section: String? {
    path.firstIndex(of: ".").map { String(path[..<$0]) }
  }

  /// The part after the dot.
  package var name: String {
    path.firstIndex(of: ".").map { String(path[path.index(after: $0)...]) } ?? path
  }
}

extension Configuration {
  /// Returns the paths of the keys whose values differ, in the order of `config/relay.yaml`.
  public func changedKeys(from old: Configuration) -> [String] {
    ConfigurationKey.all.filter { $0.differs(old, self) }.map(\.path)
  }
}

extension ConfigurationKey {
  /// All keys, in the order of `config/relay.yaml`.
  package static let all: [ConfigurationKey] = [
    .text(
      "listen", \.listen, "HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080",
      where: { Configuration.ListenAddress($0) != nil }),
    .text("data", \.dataFolder, "a folder", where: { !$0.isEmpty }),
    .integer("loops", \.loops, 0...1024),
    .choice("log_level", \.logLevel),
    .choice("log_format", \.logFormat),
    .integer("drain_s", \.drainSeconds, 0...3600),
    .texts(
      "trusted_proxies", \.trustedProxies,
      "a list of addresses and networks, such as [127.0.0.1, 10.0.0.0/8]",
      each: "an address such as 127.0.0.1, or a network such as 10.0.0.0/8",
      where: { AddressRange($0) != nil }),
    .boolean("proxy_protocol", \.proxyProtocol),
    .optionalText(
      "path_prefix", \.pathPrefix,
      "a path such as /chat (a-z A-Z 0-9 . _ ~ - and slashes, none at the end)",
      where: ConfigurationRules.isPathPrefix),
    .boolean("web", \.web),

    .choice("log.engine", \.log.engine),
    .secret("log.url", \.log.url),
    .secret("log.read_url", \.log.readURL),
    .choice("log.require", \.log.require),
    .choice("log.durability", \.log.durability),
    .integer("log.keep_entries_per_room", \.log.keepEntriesPerRoom, 0...1_000_000_000_000),
    .integer("log.min_free_bytes", \.log.minimumFreeBytes, 0...1_125_899_906_842_624),
    .integer("log.tail_bytes", \.log.tailBytes, 0...1_099_511_627_776),

    ConfigurationKey(
      path: "retention", expected: "a list such as [{ rooms: \"logs:*\", days: 30 }]",
      shape: .objects, differs: { $0.retention != $1.retention }),

    .optionalFile("tls.certificate", \.tls.certificate),
    .optionalFile("tls.key", \.tls.key),

    .choice("auth.mode", \.auth.mode),
    .secret("auth.secret", \.auth.secret),
    .optionalText("auth.public_key", \.auth.publicKey, "a file, or PEM, or empty"),
    ConfigurationKey(
      path: "auth.keys", expected: "a list such as [{ kid: \"2026\", public_key: key.pem }]",
      shape: .objects, differs: { $0.auth.keys != $1.auth.keys }),
    .optionalText(
      "auth.jwks", \.auth.jwks,
      "a file, or an https URL; http only for this machine, since the keys decide who gets in",
      where: Configuration.Auth.isKeySource),
    .optionalText("auth.issuer", \.auth.issuer, "the iss of tokens, or empty"),
    .optionalText("auth.audience", \.auth.audience, "the aud of tokens, or empty"),
    .text(
      "auth.user_claim", \.auth.userClaim, "the name of a claim, such as sub or email",
      where: ConfigurationRules.isClaimName),
    ConfigurationKey(
      path: "auth.not_before",
      expected: "users and seconds since 1970, such as { ada: 1790000000 }",
      shape: .objects, differs: { $0.auth.notBefore != $1.auth.notBefore }),
    .boolean("auth.allow_open_remote", \.auth.allowOpenRemote),
    .texts(
      "auth.origins", \.auth.origins,
      "a list of origins such as [https://chat.example.org]",
      each: "an origin such as https://chat.example.org (scheme, host, port, no path)",
      where: ConfigurationRules.isOrigin),
    .texts(
      "auth.banned", \.auth.banned, "a list of users", each: ConfigurationRules.user,
      where: ConfigurationRules.isUser),
    .texts(
      "auth.operators", \.auth.operators, "a list of users", each: ConfigurationRules.user,
      where: ConfigurationRules.isUser),

    .optionalText(
      "auth.public_url", \.auth.publicURL,
      "an address such as https://chat.example.org (scheme, host, port, no path)",
      where: { ConfigurationRules.isOrigin($0.hasSuffix("/") ? String($0.dropLast()) : $0) }),
    .choices("auth.sign_in", \.auth.signIn),
    .optionalText(
      "auth.github.client_id", \.auth.gitHub.clientID, "the client ID of an OAuth application"),
    .secret("auth.github.client_secret", \.auth.gitHub.clientSecret),
    .optionalText(
      "auth.github.organization", \.auth.gitHub.organization, "the name of an organization"),
    .text(
      "auth.github.base_url", \.auth.gitHub.baseURL, "an address such as https://github.com",
      where: ConfigurationRules.isServiceURL),
    .text(
      "auth.github.api_url", \.auth.gitHub.apiURL,
      "an address such as https://api.github.com or https://github.example.org/api/v3",
      where: ConfigurationRules.isServiceURL),
    .text(
      "auth.oidc.title", \.auth.oidc.title, ConfigurationRules.expectedTitle,
      where: ConfigurationRules.isTitle),
    .optionalText(
      "auth.oidc.issuer", \.auth.oidc.issuer,
      "an address such as https://id.example.org (https, or http on this machine)",
      where: ConfigurationRules.isIssuer),
    .optionalText("auth.oidc.client_id", \.auth.oidc.clientID, "the client ID of the relay"),
    .secret("auth.oidc.client_secret", \.auth.oidc.clientSecret),
    .text(
      "auth.oidc.user_claim", \.auth.oidc.userClaim,
      "the name of a claim, such as preferred_username, nickname or email",
      where: ConfigurationRules.isClaimName),
    .texts(
      "auth.oidc.groups", \.auth.oidc.groups, "a list of groups", each: "the name of a group",
      where: { !$0.isEmpty }),
    .text(
      "auth.oidc.groups_claim", \.auth.oidc.groupsClaim,
      "the name of a claim, such as groups or groups_direct",
      where: ConfigurationRules.isClaimName),
    .choice("auth.invites", \.auth.invites),
    .integer("auth.session_days", \.auth.sessionDays, 0...3650),

    .integer("limits.connections", \.limits.connections, 0...10_000_000),
    .integer("limits.connections_per_address", \.limits.connectionsPerAddress, 0...10_000_000),
    .integer(
      "limits.unauthenticated_per_address", \.limits.unauthenticatedPerAddress, 0...10_000_000),
    .integer(
      "limits.unauthenticated_per_s", \.limits.unauthenticatedPerSecond, 0...1_000_000_000),
    .integer(
      "limits.handshake_timeout_ms", \.limits.handshakeTimeoutMilliseconds, 0...3_600_000),
    .integer("limits.header_bytes", \.limits.headerBytes, 0...1_048_576),
    .integer("limits.header_lines", \.limits.headerLines, 0...1_048_576),
    .integer("limits.frame_bytes", \.limits.shard.frameBytes, 0...1_073_741_824),
    .integer("limits.message_fragments", \.limits.messageFragments, 0...1_000_000_000),
    .integer(
      "limits.control_frames_per_s", \.limits.controlFramesPerSecond, 0...1_000_000_000),
    .integer("limits.text_bytes", \.limits.shard.textBytes, 0...268_435_456),
    .integer("limits.edits_per_entry", \.limits.entry.editsPerEntry, 0...1_000_000_000),
    .integer("limits.reactions_per_entry", \.limits.entry.reactionsPerEntry, 0...1_000_000),
    .integer("limits.sign_ins_per_min", \.limits.signInsPerMinute, 0...1_000_000),
    .integer("limits.rooms_per_connection", \.limits.shard.roomsPerConnection, 0...1_000_000),
    .integer("limits.rooms_per_user", \.limits.roomsPerUser, 0...1_000_000),
    .integer("limits.members_per_room", \.limits.entry.membersPerRoom, 0...1_000_000),
    .integer("limits.connections_per_user", \.limits.shard.budget.connections, 0...10_000_000),
    .integer("limits.sends_per_s", \.limits.shard.budget.sendsPerSecond, 0...1_000_000_000),
    .integer("limits.burst", \.limits.shard.budget.burst, 0...1_000_000_000),
    .integer("limits.requests_per_s", \.limits.shard.budget.requestsPerSecond, 0...1_000_000_000),
    .integer("limits.bytes_per_s", \.limits.shard.budget.bytesPerSecond, 0...1_000_000_000),
    .integer("limits.file_bytes", \.limits.fileBytes, 0...1_099_511_627_776),
    .integer("limits.file_bytes_per_s", \.limits.fileBytesPerSecond, 0...1_000_000_000),
    .integer(
      "limits.files_bytes_per_user", \.limits.filesBytesPerUser, 0...1_125_899_906_842_624),
    .integer("limits.uploads_per_user", \.limits.uploadsPerUser, 0...1_000_000),
    .integer("limits.queue_bytes", \.limits.shard.queueBytes, 0...1_099_511_627_776),
    .integer("limits.heartbeat_s", \.limits.shard.heartbeatSeconds, 0...86_400),
    .integer("limits.idle_timeout_s", \.limits.idleTimeoutSeconds, 0...604_800),

    .integer("files.bytes", \.files.bytes, 0...1_125_899_906_842_624),
    .integer("files.min_free_bytes", \.files.minimumFreeBytes, 0...1_125_899_906_842_624),
    .integer("files.bytes_per_s", \.files.bytesPerSecond, 0...1_000_000_000),
    .optionalText(
      "files.host", \.files.host,
      "a name in lower case such as files.example.org, with a port if need be",
      where: { Configuration.Files.Place($0) != nil }),
    .optionalText(
      "files.s3.endpoint", \.files.s3.endpoint,
      "an address such as https://s3.example.org (scheme, host, port, no path)",
      where: ConfigurationRules.isOrigin),
    .optionalText(
      "files.s3.bucket", \.files.s3.bucket, "the name of a bucket (a-z 0-9 . -)",
      where: ConfigurationRules.isBucket),
    .text(
      "files.s3.region", \.files.s3.region, "a region such as eu-central-1", where: { !$0.isEmpty }),

    .secret("metrics.token", \.metrics.token),
    .secret("admin.token", \.admin.token),

    .boolean("delivery.hold", \.delivery.hold),
    .integer("delivery.pacing_max_ms", \.delivery.pacingMaxMilliseconds, 0...1000),

    .boolean("compression.enabled", \.compression.enabled),
    .integer("compression.min_bytes", \.compression.minimumBytes, 0...1_073_741_824),

    .boolean("debug.echo", \.debug.echo),
    .integer("debug.commit_delay_ms", \.debug.commitDelayMilliseconds, 0...60_000),

    .choice("rooms.create", \.rooms.create),
    .choice("rooms.requests", \.rooms.requests),
    ConfigurationKey(
      path: "rooms.listed", expected: "a list such as [{ room: general, title: General }]",
      shape: .objects, differs: { $0.rooms.listed != $1.rooms.listed }),

    .choice("directory.kind", \.directory.kind),
    .text("directory.file", \.directory.file, "a file", where: { !$0.isEmpty }),
    .optionalText(
      "directory.source", \.directory.source,
      "org:NAME, followers:NAME, following:NAME or users (of x, followers:NAME)",
      where: { GitHubSource($0) != nil || XService.account(in: $0) != nil }),
    .optionalText(
      "directory.base_url", \.directory.baseURL,
      "an http or https address such as https://github.example.org/api/v3, without a user or a ?",
      where: { WebAddress($0).map { !$0.path.contains { "?#".contains($0) } } ?? false }),
    .secret("directory.token", \.directory.token),
    .optionalText("directory.token_command", \.directory.tokenCommand, "a shell command"),
    .choice("directory.api", \.directory.api),
    .secret("directory.key", \.directory.key),
    .secret("directory.secret", \.directory.secret),
    .integer("directory.refresh_s", \.directory.refreshSeconds, 0...31_536_000),
    .integer("directory.max", \.directory.peopleLimit, 1...1_000_000),
    .boolean("directory.private_avatars", \.directory.allowsPrivateAvatars),

    .boolean("people.seen", \.people.seen),

    ConfigurationKey(
      path: "bots", expected: "a list of bots", shape: .objects,
      differs: { $0.bots != $1.bots }),
    .optionalFile("bots_file", \.botsFile),
  ]

  private typealias Target<Value> = any WritableKeyPath<Configuration, Value> & Sendable

  /// - Parameters:
  ///   - read: returns the value of a node; `nil` if it is invalid.
  ///   - show: returns a value as YAML.
  private static func key<Value: Equatable & Sendable>(
    _ path: String, _ target: Target<Value>, _ expected: String, shape: Shape = .scalar,
    range: ClosedRange<Int>? = nil, isSecret: Bool = false,
    read: @escaping @Sendable (YAMLNode) -> Value?,
    show: @escaping @Sendable (Value) -> String
  ) -> Self {
    Self(
      path: path, expected: expected, shape: shape, range: range, isSecret: isSecret,
      set: { node, configuration in
        guard let value = read(node) else { return false }
        configuration[keyPath: target] = value
        return true
      },
      shown: { show($0[keyPath: target]) },
      differs: { $0[keyPath: target] != $1[keyPath: target] })
  }

  private static func integer(
    _ path: String, _ target: Target<Int>, _ range: ClosedRange<Int>
  ) -> Self {
    key(
      path, target, "a whole number from \(range.lowerBound) to \(range.upperBound)", range: range,
      read: { $0.integer(as: Int.self).flatMap { range.contains($0) ? $0 : nil } },
      show: { String($0) })
  }

  private static func boolean(_ path: String, _ target: Target<Bool>) -> Self {
    key(path, target, "true or false", read: { $0.boolean }, show: { String($0) })
  }

  private static func choice<Value: RawRepresentable<String> & CaseIterable & Sendable & Equatable>(
    _ path: String, _ target: Target<Value>
  ) -> Self {
    key(
      path, target, ConfigurationRules.alternatives(of: Value.self),
      read: { $0.text.flatMap(Value.init(rawValue:)) }, show: { $0.rawValue })
  }

  private static func choices<
    Value: RawRepresentable<String> & CaseIterable & Sendable & Equatable
  >(
    _ path: String, _ target: Target<[Value]>
  ) -> Self {
    let alternatives = ConfigurationRules.alternatives(of: Value.self)
    return list(
      path, target, "a list with one or more of \(alternatives)", each: alternatives, least: 1,
      read: { $0.text.flatMap(Value.init(rawValue:)) }, show: { $0.rawValue })
  }

  private static func text(
    _ path: String, _ target: Target<String>, _ expected: String,
    where isValid: @escaping @Sendable (String) -> Bool
  ) -> Self {
    key(
      path, target, expected, read: { $0.text.flatMap { isValid($0) ? $0 : nil } },
      show: { YAMLText.written($0) })
  }

  /// A string, or empty.
  private static func optionalText(
    _ path: String, _ target: Target<String>, _ expected: String,
    where isValid: @escaping @Sendable (String) -> Bool = { _ in true }
  ) -> Self {
    key(
      path, target, expected,
      read: { textOrEmpty($0).flatMap { $0.isEmpty || isValid($0) ? $0 : nil } },
      show: { YAMLText.written($0) })
  }

  /// A string that is never shown, not even if it is invalid.
  private static func secret(_ path: String, _ target: Target<String>) -> Self {
    key(
      path, target, "a text", isSecret: true, read: textOrEmpty,
      show: { $0.isEmpty ? "\"\"" : "\"(hidden)\"" })
  }

  private static func optionalFile(_ path: String, _ target: Target<String>) -> Self {
    key(
      path, target, "a file, or empty", read: textOrEmpty, show: { YAMLText.written($0) })
  }

  private static func texts(
    _ path: String, _ target: Target<[String]>, _ expected: String, each: String,
    where isValid: @escaping @Sendable (String) -> Bool
  ) -> Self {
    list(
      path, target, expected, each: each,
      read: { $0.text.flatMap { isValid($0) ? $0 : nil } }, show: { YAMLText.written($0) })
  }

  /// - Parameters:
  ///   - each: the rest of the sentence "expected …" about an element.
  ///   - least: the number of elements that it must have.
  private static func list<Value: Equatable & Sendable>(
    _ path: String, _ target: Target<[Value]>, _ expected: String, each: String, least: Int = 0,
    read: @escaping @Sendable (YAMLNode) -> Value?,
    show: @escaping @Sendable (Value) -> String
  ) -> Self {
    var made = key(
      path, target, expected, shape: .list,
      read: { node in
        guard let elements = node.list, elements.count >= least else { return nil }
        let values = elements.compactMap(read)
        return values.count == elements.count ? values : nil
      },
      show: { "[\($0.map(show).joined(separator: ", "))]" })
    made.element = Element(expected: each, isValid: { read($0) != nil })
    return made
  }

  @Sendable private static func textOrEmpty(_ node: YAMLNode) -> String? {
    node.isNull ? "" : node.text
  }
}
