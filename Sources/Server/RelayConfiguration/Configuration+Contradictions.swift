internal import Relay
internal import YAML

extension Configuration {
  /// A violated rule that involves several keys.
  package struct Contradiction: Equatable, Sendable {
    /// The offending key.
    var key: String
    /// The offending bot, by its index in `bots`.
    var bot: Int?
    var found: String
    var expected: String
  }

  /// Returns combinations of settings that are valid each, but contradict each other.
  package func contradictions() -> [Contradiction] {
    listenContradictions() + logContradictions() + tlsContradictions() + authContradictions()
      + limitContradictions() + fileContradictions() + fileHostContradictions
      + directoryContradictions()
      + botContradictions()
  }

  private func listenContradictions() -> [Contradiction] {
    var found: [Contradiction] = []
    if proxyProtocol, trustedProxies.isEmpty {
      found.append(
        Contradiction(
          key: "proxy_protocol",
          found: "is true, but trusted_proxies is empty, so that every connection would be refused",
          expected: "set trusted_proxies to the addresses of the proxies, such as [127.0.0.1]"))
    }
    guard let address = ListenAddress(listen), !address.isLoopback, auth.mode == .open,
      !auth.allowOpenRemote
    else { return found }
    found.append(
      Contradiction(
        key: "listen",
        found:
          "is \(YAMLText.quoted(listen)), which other machines can reach, while auth.mode is open "
          + "and any client may claim any name",
        expected: "listen on 127.0.0.1 or [::1], or set auth.allow_open_remote: true if this is "
          + "intended"))
    return found
  }

  private func logContradictions() -> [Contradiction] {
    var found: [Contradiction] = []
    if log.engine == .postgresql, log.url.isEmpty {
      found.append(
        Contradiction(
          key: "log.engine", found: "is postgresql, but log.url is empty",
          expected: "set log.url to the connection URI, such as postgresql:///relay, or "
            + "RELAY_LOG_URL in the environment"))
    }
    if log.engine == .sqlite, !log.url.isEmpty {
      found.append(
        Contradiction(
          key: "log.url", found: "is set, but log.engine is sqlite",
          expected: "set log.engine: postgresql, or remove the URL"))
    }
    if log.engine == .sqlite, !log.readURL.isEmpty {
      found.append(
        Contradiction(
          key: "log.read_url", found: "is set, but log.engine is sqlite",
          expected: "set log.engine: postgresql, or remove the URL"))
    }
    if log.engine == .sqlite, log.require == .replicated {
      found.append(
        Contradiction(
          key: "log.require",
          found: "is replicated, but log.engine is sqlite, which has no replicas",
          expected: "set log.engine: postgresql, or log.require: local"))
    }
    if log.engine == .postgresql, log.durability == .memory {
      found.append(
        Contradiction(
          key: "log.durability", found: "is memory, but log.engine is postgresql",
          expected: "choose fsync or os, or remove log.engine"))
    }
    return found
  }

  private func tlsContradictions() -> [Contradiction] {
    guard tls.certificate.isEmpty != tls.key.isEmpty else { return [] }
    let (missing, given) =
      tls.key.isEmpty ? ("tls.key", "tls.certificate") : ("tls.certificate", "tls.key")
    return [
      Contradiction(
        key: missing, found: "is empty, but \(given) is set",
        expected: "set both for wss, or neither for ws")
    ]
  }

  private func authContradictions() -> [Contradiction] {
    var found: [Contradiction] = []
    let hasNamed = !auth.keys.isEmpty || !auth.jwks.isEmpty
    let (hasSecret, hasPublic) = (!auth.secret.isEmpty, !auth.publicKey.isEmpty)
    if auth.mode == .jwt, hasSecret && hasPublic || !(hasSecret || hasPublic || hasNamed) {
      found.append(
        Contradiction(
          key: "auth.mode",
          found: hasSecret
            ? "is jwt, and both of auth.secret and auth.public_key are set"
            : "is jwt, and neither of auth.secret and auth.public_key is set",
          expected: "set auth.secret for HS256 (\"openssl rand -hex 32\" creates one), or "
            + "auth.public_key for RS256 or ES256; several keys belong in auth.keys, those of a "
            + "provider in auth.jwks"))
    }
    for key in auth.unusedKeys {
      found.append(
        Contradiction(
          key: key, found: "is set, but auth.mode is \(auth.mode.rawValue), which does not use it",
          expected: "set auth.mode: jwt, or remove it"))
    }
    if !auth.secret.isEmpty, auth.secret.utf8.count < ConfigurationRules.secretBytes {
      found.append(
        Contradiction(
          key: "auth.secret",
          found: "has only \(auth.secret.utf8.count) bytes and can be guessed",
          expected:
            "expected at least \(ConfigurationRules.secretBytes); \"openssl rand -hex 32\" creates one"
        )
      )
    }
    if auth.mode == .open, !auth.operators.isEmpty {
      found.append(
        Contradiction(
          key: "auth.operators",
          found: "is set, but auth.mode is open and any client may claim to be an operator",
          expected:
            "set auth.mode: jwt, or leave it empty and set metrics.token to read the metrics, and"
            + " admin.token for all that operators do"))
    }
    if !metrics.token.isEmpty, metrics.token.utf8.count < ConfigurationRules.metricsTokenBytes {
      found.append(
        Contradiction(
          key: "metrics.token",
          found: "has only \(metrics.token.utf8.count) bytes and can be guessed",
          expected: "expected at least \(ConfigurationRules.metricsTokenBytes); "
            + "\"openssl rand -hex 16\" creates one"))
    }
    found += administrationContradictions
    if auth.mode == .accounts, auth.signIn.contains(.github),
      auth.gitHub.clientID.isEmpty || auth.gitHub.clientSecret.isEmpty
    {
      found.append(
        Contradiction(
          key: "auth.sign_in",
          found: "has github, but auth.github.client_id or auth.github.client_secret is empty",
          expected: "register an OAuth application at GitHub, whose callback address is "
            + "auth.public_url followed by /sign-in/github/callback, and set both"))
    }
    if auth.mode == .accounts, auth.signIn.contains(.oidc),
      auth.oidc.issuer.isEmpty || auth.oidc.clientID.isEmpty
    {
      found.append(
        Contradiction(
          key: "auth.sign_in",
          found: "has oidc, but auth.oidc.issuer or auth.oidc.client_id is empty",
          expected: "register the relay at the provider, whose callback address is "
            + "auth.public_url followed by /sign-in/oidc/callback, and set both"))
    }
    if auth.mode == .accounts, auth.publicURL.isEmpty,
      ListenAddress(listen).map({ !$0.isLoopback }) ?? false
    {
      found.append(
        Contradiction(
          key: "auth.public_url",
          found: "is empty, but auth.mode is accounts and other machines can reach "
            + YAMLText.quoted(listen),
          expected: "set it to where browsers find the relay, such as https://chat.example.org: "
            + "links of invitations begin with it"))
    }
    for bot in bots where auth.banned.contains(bot.user) {
      found.append(
        Contradiction(
          key: "auth.banned", found: "names \(YAMLText.quoted(bot.user)), a bot of this relay",
          expected: "remove it from the list, or from bots"))
    }
    return found
  }

  private func fileContradictions() -> [Contradiction] {
    guard !files.s3.bucket.isEmpty else {
      return files.s3.endpoint.isEmpty
        ? []
        : [
          Contradiction(
            key: "files.s3.endpoint", found: "is set, but files.s3.bucket is empty",
            expected: "set files.s3.bucket to the bucket that has the files, or remove the endpoint"
          )
        ]
    }
    var found: [Contradiction] = []
    if limits.fileBytes == 0 || limits.fileBytes > Files.S3.objectBytes {
      found.append(
        Contradiction(
          key: "limits.file_bytes", found: "is \(limits.fileBytes), and files.s3.bucket is set",
          expected:
            "expected 1 to \(Files.S3.objectBytes): a file has at most 10,000 parts of 16 MiB in S3"
        ))
    }
    if files.bytes > 0 {
      found.append(
        Contradiction(
          key: "files.bytes", found: "is \(files.bytes), and files.s3.bucket is set",
          expected:
            "remove it, and give the bucket a quota: a relay does not know what others store"))
    }
    if log.engine == .sqlite {
      found.append(
        Contradiction(
          key: "files.s3.bucket", found: "is set, but the log is in SQLite",
          expected: "remove it: files are in the data folder then, and are backed up from there"))
    }
    return found
  }

  private func limitContradictions() -> [Contradiction] {
    var found: [Contradiction] = []
    func check(_ holds: Bool, _ key: String, _ value: Int, _ expected: String) {
      if !holds {
        found.append(Contradiction(key: "limits.\(key)", found: "is \(value)", expected: expected))
      }
    }
    let (shard, budget) = (limits.shard, limits.shard.budget)
    // JSON may take three times the bytes of UTF-8 for a character (é as \u00e9); the rest is for
    // room, id and braces.
    let frameNeeded = shard.textBytes * 3 + 1024
    check(
      shard.frameBytes == 0 || shard.textBytes == 0 || shard.frameBytes >= frameNeeded,
      "frame_bytes", shard.frameBytes,
      "a text of limits.text_bytes (\(shard.textBytes)) takes up to \(frameNeeded) as JSON; "
        + "raise it, or lower limits.text_bytes")
    check(
      shard.queueBytes == 0 || shard.queueBytes >= max(shard.frameBytes, Shard.pageBytes),
      "queue_bytes", shard.queueBytes,
      "expected at least \(max(shard.frameBytes, Shard.pageBytes)), "
        + "for one message of limits.frame_bytes and one page of \(Shard.pageBytes)")
    check(
      budget.sendsPerSecond == 0 || budget.burst > 0, "burst", budget.burst,
      "expected at least 1 if limits.sends_per_s is set, or no send would be accepted")
    check(
      shard.heartbeatSeconds == 0 || limits.idleTimeoutSeconds == 0
        || limits.idleTimeoutSeconds > shard.heartbeatSeconds,
      "idle_timeout_s", limits.idleTimeoutSeconds,
      "expected more than limits.heartbeat_s (\(shard.heartbeatSeconds)), "
        + "or quiet clients are disconnected before they are pinged")
    return found
  }

  private func botContradictions() -> [Contradiction] {
    var found: [Contradiction] = []
    for (index, bot) in bots.enumerated() {
      let name = "of the bot \(YAMLText.quoted(bot.user))"
      for room in bot.rooms
      where rooms.create == .listed && !rooms.listed.contains(where: { $0.room == room }) {
        found.append(
          Contradiction(
            key: "bots[\(index)].rooms", bot: index,
            found:
              "\(name) names \(YAMLText.quoted(room)), but rooms.create allows listed rooms only",
            expected: "add it to rooms.listed, or set rooms.create: anyone"))
      }
      let said = bot.script.compactMap { step in
        if case .say(let text) = step { text } else { nil }
      }
      let longest = (bot.lines + said).map(\.utf8.count).max() ?? 0
      if limits.shard.textBytes > 0, longest > limits.shard.textBytes {
        found.append(
          Contradiction(
            key: "bots[\(index)]", bot: index, found: "\(name) has a text of \(longest) bytes",
            expected: "limits.text_bytes allows \(limits.shard.textBytes)"))
      }
    }
    return found
  }
}
