import Relay
import RelayConfiguration
import Testing

@Suite struct `Configuration, from its sources` {
  @Test func `nothing at all gives the defaults`() throws {
    #expect(try Configuration.load(file: nil, environment: [:]) == Configuration())
  }

  @Test func `an empty file, and one of comments, give the defaults`() throws {
    for yaml in ["", "# nothing\n", "---\n", "limits:\nlog:\n"] {
      #expect(try ConfigurationFixture(yaml).load() == .success(Configuration()))
    }
  }

  @Test func `a file sets the keys that it names and leaves the rest`() throws {
    let fixture = try ConfigurationFixture(
      """
      listen: "[::1]:9000"
      log_level: debug
      log: { durability: os, tail_bytes: 65536 }
      auth:
        origins: [https://chat.example.org, "http://localhost:5173"]
        mode: jwt
        public_key: keys/public.pem
        banned: [mallory, eve]
        operators: [prometheus]
      limits:
        sends_per_s: 0
        handshake_timeout_ms: 250
      debug: { echo: true, commit_delay_ms: 40 }
      rooms: { create: listed, listed: [{ room: a, title: The first }, { room: b }] }
      """)
    var expected = Configuration()
    expected.listen = "[::1]:9000"
    expected.logLevel = .debug
    expected.log.durability = .os
    expected.log.tailBytes = 65_536
    expected.auth.origins = ["https://chat.example.org", "http://localhost:5173"]
    expected.auth.mode = .jwt
    expected.auth.publicKey = "keys/public.pem"
    expected.auth.banned = ["mallory", "eve"]
    expected.auth.operators = ["prometheus"]
    expected.limits.shard.budget.sendsPerSecond = 0
    expected.limits.handshakeTimeoutMilliseconds = 250
    expected.debug.echo = true
    expected.debug.commitDelayMilliseconds = 40
    expected.rooms.create = .listed
    expected.rooms.listed = [
      Configuration.ListedRoom(room: "a", title: "The first"),
      Configuration.ListedRoom(room: "b", title: "b"),
    ]
    #expect(fixture.load() == .success(expected))
  }

  @Test func `flags win over environment over file over defaults`() throws {
    let fixture = try ConfigurationFixture(
      "listen: 127.0.0.1:1\ndata: file\nloops: 1\nlimits: { burst: 11 }")
    let environment = [
      "RELAY_LISTEN": "127.0.0.1:2", "RELAY_DATA": "environment", "RELAY_LIMITS_BURST": "12",
      "HOME": "/nowhere", "RELAYED": "not ours",
    ]
    let loaded = try fixture.load(
      environment, overrides: Configuration.Overrides(listen: "127.0.0.1:3", noWeb: true)
    ).get()
    #expect(loaded.listen == "127.0.0.1:3")
    #expect(!loaded.web)
    #expect(loaded.dataFolder == "environment")
    #expect(loaded.limits.shard.budget.burst == 12)
    #expect(loaded.loops == 1)
    #expect(loaded.drainSeconds == 10)
  }

  @Test func `every scalar of the environment has the type that it has in the file`() throws {
    let loaded = try Configuration.load(
      file: nil,
      environment: [
        "RELAY_LOG_LEVEL": "error", "RELAY_LOG_DURABILITY": "memory",
        "RELAY_LIMITS_SENDS_PER_S": "7", "RELAY_AUTH_ALLOW_OPEN_REMOTE": "true",
        "RELAY_AUTH_ORIGINS": "https://a.example, http://b.example:81", "RELAY_BOTS_FILE": "",
      ])
    #expect(loaded.logLevel == .error)
    #expect(loaded.log.durability == .memory)
    #expect(loaded.limits.shard.budget.sendsPerSecond == 7)
    #expect(loaded.auth.allowOpenRemote)
    #expect(loaded.auth.origins == ["https://a.example", "http://b.example:81"])
    #expect(loaded.botsFile == "")
  }

  @Test func `an empty list from the environment is empty`() throws {
    let fixture = try ConfigurationFixture("auth: { origins: [https://a.example] }")
    #expect(try fixture.load(["RELAY_AUTH_ORIGINS": ""]).get().auth.origins == [])
  }

  @Test func `a value with a different type in YAML is still the text that was written`() throws {
    let fixture = try ConfigurationFixture("data: 2024\nrooms: { listed: [{ room: no }] }")
    let loaded = try fixture.load().get()
    #expect(loaded.dataFolder == "2024")
    #expect(loaded.rooms.listed.map(\.room) == ["no"])
  }
}

@Suite struct `Configuration, keys of tokens` {
  private static let secret = String(repeating: "s", count: 32)

  @Test func `several keys, and the conditions of tokens, are read`() throws {
    let loaded = try ConfigurationFixture(
      """
      auth:
        mode: jwt
        keys: [{ kid: "2026", secret: \(Self.secret) }, { kid: a, public_key: a.pem }]
        jwks: https://id.example.org/keys
        issuer: https://id.example.org
        audience: chat
        user_claim: email
        not_before: { ada: 1790000000, "7": 0 }
      """
    ).load().get()
    #expect(loaded.auth.keys.map(\.kid) == ["2026", "a"])
    #expect(loaded.auth.keys.map(\.secret) == [Self.secret, ""])
    #expect(loaded.auth.keys.map(\.publicKey) == ["", "a.pem"])
    #expect(loaded.auth.jwks == "https://id.example.org/keys")
    #expect(loaded.auth.notBefore == ["ada": 1_790_000_000, "7": 0])
    let described = loaded.described()
    #expect(!described.contains("ssss"))
    #expect(described.contains("    - kid: \"2026\"\n      secret: \"(hidden)\"\n"))
    let publicOnly = described.replacing("secret: \"(hidden)\"", with: "public_key: b.pem")
      .replacing("\n  public_key: b.pem", with: "\n  secret: \"\"")
    var expected = loaded
    expected.auth.keys[0].secret = ""
    expected.auth.keys[0].publicKey = "b.pem"
    #expect(try ConfigurationFixture(publicOnly).load() == .success(expected))
  }

  @Test(arguments: [
    ("keys: \(secret)", "auth.keys is not a list; expected a list of keys"),
    ("keys: [\(secret)]", "auth.keys[0] is not a mapping; expected kid, and secret or public_key"),
    (
      "keys: [{ secret: \(secret) }]",
      "auth.keys[0].kid is missing; every key of auth.keys needs a name"
    ),
    (
      "keys: [{ kid: a, secret: [\(secret)] }]",
      "auth.keys[0].secret of the key \"a\" is invalid; expected at least 32 bytes; "
        + "\"openssl rand -hex 32\" creates a secret"
    ),
    (
      "keys: [{ kid: a, secret: hush }]",
      "auth.keys[0].secret of the key \"a\" is invalid; expected at least 32 bytes; "
        + "\"openssl rand -hex 32\" creates a secret"
    ),
    (
      "keys: [{ kid: a }]",
      "auth.keys[0].secret of the key \"a\" and public_key are missing; "
        + "set secret for HS256, or public_key for RS256 or ES256"
    ),
    (
      "keys: [{ kid: a, public_key: a.pem, secret: \(secret) }]",
      "auth.keys[0].secret of the key \"a\" and public_key are both set; "
        + "set secret for HS256, or public_key for RS256 or ES256"
    ),
    (
      "keys: [{ kid: a, public_key: a.pem }, { kid: a, secret: \(secret) }]",
      "auth.keys[1].kid of the key \"a\" is the name of another key; use a different name for each key"
    ),
    (
      "keys: [{ kid: a, sekret: \(secret) }]",
      "auth.keys[0].sekret is not a known key; did you mean auth.keys[0].secret?"
    ),
    (
      "jwks: http://id.example.org/keys",
      "auth.jwks is \"http://id.example.org/keys\"; expected a file, or an https URL; http only for "
        + "this machine, since the keys decide who gets in"
    ),
    ("not_before: [ada]", "auth.not_before is a list; expected users and seconds since 1970"),
    (
      "not_before: { Ada: 1 }",
      "auth.not_before names \"Ada\"; expected 1 to 64 of a-z 0-9 . _ -, not . or .."
    ),
    (
      "not_before: { ada: soon }",
      "auth.not_before.ada is \"soon\"; expected seconds since 1970, such as those of \"date +%s\""
    ),
    (
      "user_claim: \"\"",
      "auth.user_claim is \"\"; expected the name of a claim, such as sub or email"
    ),
  ])
  func `a fault is told without a secret`(yaml: String, complaint: String) throws {
    let sentences = try complaints(
      about: "auth: { mode: jwt, secret: \(String(repeating: "x", count: 32)), \(yaml) }")
    #expect(sentences == [":1: \(complaint)"])
    #expect(!sentences.joined().contains("ssss"))
  }

  @Test func `http is for this machine`() throws {
    for url in ["http://127.0.0.1:1/keys", "http://localhost/keys", "HTTPS://id.example.org/keys"] {
      #expect(try complaints(about: "auth: { mode: jwt, jwks: \"\(url)\" }") == [])
    }
  }

  @Test func `what is about tokens is refused where there are none`() throws {
    let sentences = try complaints(
      about:
        "auth: { jwks: k.json, issuer: i, audience: a, user_claim: email, not_before: { ada: 1 } }"
    )
    #expect(sentences.count == 5)
    #expect(
      sentences.first
        == ":1: auth.jwks is set, but auth.mode is open, which does not use it; set auth.mode: jwt, or remove it"
    )
  }

  @Test func `keys cannot be set in the environment, other settings can`() throws {
    let loaded = try Configuration.load(
      file: nil,
      environment: [
        "RELAY_AUTH_MODE": "jwt", "RELAY_AUTH_JWKS": "k.json", "RELAY_AUTH_ISSUER": "i",
      ])
    #expect(loaded.auth.jwks == "k.json")
    #expect(throws: ConfigurationError.self) {
      try Configuration.load(file: nil, environment: ["RELAY_AUTH_KEYS": "[]"])
    }
  }
}

@Suite struct `Configuration, described` {
  @Test func `a described configuration loads as the same configuration`() throws {
    let fixture = try ConfigurationFixture(
      """
      listen: localhost:0
      data: "a \\"quoted\\" folder: # no comment"
      auth: { origins: [https://a.example] }
      rooms: { listed: [{ room: "7", title: "no" }, { room: off, title: "Überall \\u00A0x" }] }
      bots:
        - { user: "1", behaviour: echo, seed: 18446744073709551615 }
        - user: guide
          name: "~"
          behaviour: [script, every, exec]
          rooms: [a, b:c]
          interval_s: 0.5
          reply_delay_s: [0.25, 2]
          upload_delay_s: 1.5
          typing: false
          lines: [one, "two: 2", "- three", "true", "4", ".5", ".inf"]
          script: [hello, { wait_s: 2 }, "wait_s: 3", "a\\nb\\tc"]
          command: [./run, "--x={y}", ""]
      """)
    let loaded = try fixture.load().get()
    #expect(loaded.bots.count == 2)
    let described = try ConfigurationFixture(loaded.described())
    #expect(described.load() == .success(loaded))
  }

  @Test func `the keys that differ are named, those with secrets and lists of objects, too`() throws
  {
    let old = try ConfigurationFixture(
      "auth: { mode: jwt, secret: \(String(repeating: "a", count: 32)) }\nlimits: { burst: 5 }"
    ).load().get()
    let new = try ConfigurationFixture(
      """
      log_level: debug
      trusted_proxies: [127.0.0.1]
      auth:
        mode: jwt
        keys: [{ kid: a, secret: \(String(repeating: "b", count: 32)) }]
        not_before: { ada: 1790000000 }
      limits: { burst: 6 }
      debug: { echo: true }
      rooms: { listed: [{ room: general }] }
      bots: [{ user: bot, behaviour: echo, rooms: [general] }]
      """
    ).load().get()
    let changed = [
      "log_level", "trusted_proxies", "auth.secret", "auth.keys", "auth.not_before",
      "limits.burst", "debug.echo", "rooms.listed", "bots",
    ]
    #expect(new.changedKeys(from: old) == changed)
    #expect(old.changedKeys(from: new) == changed)
    #expect(new.changedKeys(from: new) == [])
  }

  @Test func `a secret is not shown`() throws {
    let secret = String(repeating: "s", count: 32)
    let loaded = try Configuration.load(
      file: nil, environment: ["RELAY_AUTH_SECRET": secret, "RELAY_AUTH_MODE": "jwt"])
    #expect(loaded.auth.secret == secret)
    let described = loaded.described()
    #expect(described.contains("\n  secret: \"(hidden)\"\n"))
    #expect(!described.contains(secret))
    #expect(try complaints(about: described).count == 1)
  }

  @Test func `the URLs of PostgreSQL may have passwords, and are not shown`() throws {
    let loaded = try Configuration.load(
      file: nil,
      environment: [
        "RELAY_LOG_ENGINE": "postgresql", "RELAY_LOG_URL": "postgresql://relay:one@a/relay",
        "RELAY_LOG_READ_URL": "postgresql://relay:two@b/relay", "RELAY_LOG_REQUIRE": "replicated",
      ])
    #expect(loaded.log.readURL == "postgresql://relay:two@b/relay")
    #expect(loaded.log.require == .replicated)
    let described = loaded.described()
    #expect(described.contains("\n  url: \"(hidden)\"\n  read_url: \"(hidden)\"\n"))
    #expect(described.contains("\n  require: replicated\n"))
  }

  @Test func `the defaults are described, key by key`() throws {
    let described = Configuration().described()
    #expect(try ConfigurationFixture(described).load() == .success(Configuration()))
    #expect(described.hasPrefix("listen: \"127.0.0.1:8080\"\ndata: ./data\nloops: 0\n"))
    #expect(described.contains("\nlimits:\n  connections: 100000\n"))
    #expect(described.hasSuffix("\nbots: []\nbots_file: \"\"\n"))
  }

  @Test func `bots of a file are shown below its name, and load again from it`() throws {
    let bots = try ConfigurationFixture("- { user: echo, behaviour: echo }")
    let loaded = try Configuration.load(file: nil, environment: ["RELAY_BOTS_FILE": bots.path])
    let described = loaded.described()
    #expect(described.contains("\nbots_file: \(bots.path)\n# bots:\n#   - user: echo\n"))
    #expect(try ConfigurationFixture(described).load() == .success(loaded))
  }
}

@Suite struct `Listen address` {
  @Test(arguments: [
    ("127.0.0.1:8080", "127.0.0.1", 8080, true), ("127.9.8.7:0", "127.9.8.7", 0, true),
    ("localhost:1", "localhost", 1, true), ("[::1]:65535", "::1", 65535, true),
    ("[::ffff:127.0.0.1]:80", "::ffff:127.0.0.1", 80, true), ("0.0.0.0:80", "0.0.0.0", 80, false),
    ("[::]:80", "::", 80, false), ("[::ffff:10.0.0.1]:80", "::ffff:10.0.0.1", 80, false),
    ("127.0.0.1.example.org:80", "127.0.0.1.example.org", 80, false),
    ("127.1:80", "127.1", 80, false),
  ])
  func `is taken apart, and known to be loopback or not`(
    text: String, host: String, port: UInt16, isLoopback: Bool
  ) throws {
    let address = try #require(Configuration.ListenAddress(text))
    #expect(address.host == host)
    #expect(address.port == port)
    #expect(address.isLoopback == isLoopback)
  }

  @Test(arguments: [
    "", ":", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
    "127.0.0.1:080", "127.0.0.1:+1", "::1:80", "[::1]", "[localhost]:80", "[]:80", "a b:80",
    "a/b:80",
  ])
  func `is refused if it is not HOST and PORT`(text: String) {
    #expect(Configuration.ListenAddress(text) == nil)
  }
}
