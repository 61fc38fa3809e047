import RelayConfiguration
import Testing

@Suite struct `Errors in a configuration` {
  @Test(arguments: [
    "\u{202E}", "\u{202A}", "\u{2066}", "\u{2069}", "\u{200E}", "\u{200F}", "\u{61C}", "\u{2028}",
  ])
  func `a title or name may not change the direction of the text around it`(character: String)
    throws
  {
    for (yaml, key) in [
      ("auth: { oidc: { title: \"nI \(character)ngiS\" } }", "auth.oidc.title"),
      ("rooms: { listed: [{ room: a, title: \"A\(character)B\" }] }", "rooms.listed[0].title"),
      ("bots: [{ user: b, name: \"A\(character)B\", echo: true }]", "name of the bot"),
    ] {
      let sentences = try complaints(about: yaml)
      #expect(
        sentences.contains {
          $0.contains(key) && $0.contains("without characters that change its direction")
        }, "\(sentences)")
      #expect(!sentences.contains { $0.contains(character) }, "shown as an escape")
    }
  }

  @Test func `a title may be of a language that is written from right to left`() throws {
    let yaml = "rooms: { listed: [{ room: a, title: כללי }, { room: b, title: 👩‍🔬 }] }"
    #expect(try complaints(about: yaml) == [])
  }

  @Test(arguments: [
    ("loops: many", #":1: loops is "many"; expected a whole number from 0 to 1024"#),
    ("loops: -1", #":1: loops is "-1"; expected a whole number from 0 to 1024"#),
    ("loops: 010", #":1: loops is "010"; expected a whole number from 0 to 1024"#),
    ("loops: \"2\"", #":1: loops is "2"; expected a whole number from 0 to 1024"#),
    ("loops: 1.0", #":1: loops is "1.0"; expected a whole number from 0 to 1024"#),
    ("\n\nloops:", ":3: loops is empty; expected a whole number from 0 to 1024"),
    (
      "auth: { allow_open_remote: yes }",
      #":1: auth.allow_open_remote is "yes"; expected true or false"#
    ),
    (
      "log: { durability: disk }",
      #":1: log.durability is "disk"; expected fsync, os or memory"#
    ),
    (
      "log_level: warn",
      #":1: log_level is "warn"; "#
        + "expected trace, debug, info, notice, warning, error or critical"
    ),
    (
      "auth:\n  mode: token",
      #":2: auth.mode is "token"; expected open, jwt or accounts"#
    ),
    (
      "auth: { banned: [Ada] }",
      #":1: auth.banned[0] is "Ada"; expected 1 to 64 of a-z 0-9 . _ -, not . or .."#
    ),
    ("auth: { operators: ada }", #":1: auth.operators is "ada"; expected a list of users"#),
    (
      "trusted_proxies:\n- 127.0.0.1\n- ::1\n- 10.0.0.1/8",
      #":4: trusted_proxies[2] is "10.0.0.1/8"; "#
        + "expected an address such as 127.0.0.1, or a network such as 10.0.0.0/8"
    ),
    (
      "auth: { sign_in: [invite, google] }",
      #":1: auth.sign_in[1] is "google"; expected invite, github or oidc"#
    ),
    (
      "auth: { sign_in: [] }",
      ":1: auth.sign_in is an empty list; expected a list with one or more of invite, github or oidc"
    ),
    (
      "auth: { oidc: { groups: [staff, { a: b }] } }",
      ":1: auth.oidc.groups[1] is a mapping; expected the name of a group"
    ),
    // Secrets are not repeated.
    ("auth: { secret: [hush] }", ":1: auth.secret is invalid; expected a text"),
    (
      "auth: { origins: [https://a.example/] }",
      #":1: auth.origins[0] is "https://a.example/"; "#
        + "expected an origin such as https://chat.example.org (scheme, host, port, no path)"
    ),
    (
      "listen: 8080",
      #":1: listen is "8080"; expected HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080"#
    ),
    ("data: ''", #":1: data is ""; expected a folder"#),
    ("data: [a]", ":1: data is a list; expected a folder"),
    ("limits: 5", #":1: limits is "5"; expected keys and values"#),
    ("[1, 2]", ":1: is a list; expected keys and values"),
    ("rooms: { create: all }", #":1: rooms.create is "all"; expected anyone or listed"#),
    ("rooms: { listed: general }", #":1: rooms.listed is "general"; expected a list of rooms"#),
    (
      "rooms: { listed: [{ room: a/b }] }",
      #":1: rooms.listed[0].room is "a/b"; "#
        + "expected 1 to 140 of a-z 0-9 . _ : -, not . or .., and not beginning with dm: or sys:"
    ),
    (
      "rooms: { listed: [{ room: \"dm:a:b\" }] }",
      #":1: rooms.listed[0].room is "dm:a:b"; "#
        + "expected 1 to 140 of a-z 0-9 . _ : -, not . or .., and not beginning with dm: or sys:"
    ),
    (
      "rooms: { listed: [{ room: .. }] }",
      #":1: rooms.listed[0].room is ".."; "#
        + "expected 1 to 140 of a-z 0-9 . _ : -, not . or .., and not beginning with dm: or sys:"
    ),
    (
      "rooms: { listed: [{ title: A }] }",
      ":1: rooms.listed[0].room is missing; "
        + "expected 1 to 140 of a-z 0-9 . _ : -, not . or .., and not beginning with dm: or sys:"
    ),
    (
      "rooms:\n  listed:\n  - room: a\n  - room: a",
      #":4: rooms.listed[1].room is "a", which is already listed; list each room once"#
    ),
    (
      "rooms: { listed: [{ room: a, title: \"a\\nb\" }] }",
      #":1: rooms.listed[0].title is "a\nb"; expected one line of 1 to 200 bytes, "#
        + "without characters that change its direction"
    ),
    (
      "rooms: { listed: [{ room: a, titel: A }] }",
      ":1: rooms.listed[0].titel is not a known key; did you mean rooms.listed[0].title?"
    ),
    ("rooms: { listed: [a] }", #":1: rooms.listed[0] is "a"; expected keys and values"#),
  ])
  func `have the line, the key, the value and the expected value`(
    yaml: String, sentence: String
  ) throws {
    #expect(try complaints(about: yaml) == [sentence])
  }

  @Test(arguments: [
    ("limits: { sends_per_sec: 5 }", "limits.sends_per_sec", "limits.sends_per_s"),
    ("limits: { brust: 5 }", "limits.brust", "limits.burst"),
    ("limit: { burst: 5 }", "limit", "limits"),
    ("listne: 127.0.0.1:0", "listne", "listen"),
    ("burst: 5", "burst", "limits.burst"),
    ("log: { origins: [] }", "log.origins", "auth.origins"),
    ("bot_file: x", "bot_file", "bots_file"),
  ])
  func `an unknown key is reported with the nearest known one`(
    yaml: String, key: String, nearest: String
  ) throws {
    #expect(
      try complaints(about: yaml) == [":1: \(key) is not a known key; did you mean \(nearest)?"])
  }

  @Test(arguments: [
    ("metrics: { port: 1 }", "metrics.port"),
    ("directory: { limit: 5 }", "directory.limit"), ("auth: { leeway_s: 5 }", "auth.leeway_s"),
    ("debug: { loopback: true }", "debug.loopback"), ("colour: red", "colour"),
  ])
  func `an unknown key that is near to none is only called unknown`(
    yaml: String, key: String
  ) throws {
    #expect(
      try complaints(about: yaml)
        == [":1: \(key) is not a known key; see config/relay.yaml for all keys"])
  }

  @Test(arguments: [
    (
      "RELAY_LIMITS_BURST", "many",
      #"RELAY_LIMITS_BURST is "many"; expected a whole number from 0 to 1000000000"#
    ),
    (
      "RELAY_LIMITS_SEND_PER_S", "5",
      "RELAY_LIMITS_SEND_PER_S is not a known variable; did you mean RELAY_LIMITS_SENDS_PER_S?"
    ),
    (
      "RELAY_COLOUR", "red",
      "RELAY_COLOUR is not a known variable; see config/relay.yaml for all keys"
    ),
    ("RELAY_DATA", "", "RELAY_DATA is empty; expected a folder"),
    (
      "RELAY_BOTS", "echo",
      "RELAY_BOTS cannot be set in the environment; set bots in a file, or RELAY_BOTS_FILE"
    ),
    (
      "RELAY_ROOMS_LISTED", "general",
      "RELAY_ROOMS_LISTED cannot be set in the environment; set rooms.listed in a file"
    ),
    (
      "RELAY_AUTH_ORIGINS", "https://a.example,ftp://b.example",
      #"RELAY_AUTH_ORIGINS[1] is "ftp://b.example"; expected an origin such as "#
        + "https://chat.example.org (scheme, host, port, no path)"
    ),
  ])
  func `a variable has its name in the environment`(
    name: String, value: String, sentence: String
  ) throws {
    #expect(try complaints(about: "", [name: value]) == ["environment: \(sentence)"])
  }

  @Test func `a flag has its name on the command line`() throws {
    let error = #expect(throws: ConfigurationError.self) {
      try Configuration.load(
        file: nil, environment: [:], overrides: Configuration.Overrides(listen: "here", data: ""))
    }
    #expect(
      error?.description == """
        command line: --listen is "here"; expected HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080
        command line: --data is empty; expected a folder
        """)
  }

  @Test func `all errors of all sources are reported together`() throws {
    let yaml = """
      loops: x
      colour: red
      loops: 1
      bots:
        - user: Ada
          behaviour: sing
      limits: { burst: [] }
      """
    #expect(
      try complaints(about: yaml, ["RELAY_DRAIN_S": "soon", "RELAY_LISTEN": "0.0.0.0:80"]) == [
        ":3: loops is given twice; the first is on line 1; remove one of them",
        #":1: loops is "x"; expected a whole number from 0 to 1024"#,
        ":2: colour is not a known key; see config/relay.yaml for all keys",
        #":5: bots[0].user is "Ada"; expected 1 to 64 of a-z 0-9 . _ -, not . or .."#,
        #":6: bots[0].behaviour is "sing"; expected echo, echo-twice, every, script or exec"#,
        ":7: limits.burst is a list; expected a whole number from 0 to 1000000000",
        #"environment: RELAY_DRAIN_S is "soon"; expected a whole number from 0 to 3600"#,
        #"environment: listen is "0.0.0.0:80", which other machines can reach, while auth.mode is open "#
          + "and any client may claim any name; listen on 127.0.0.1 or [::1], "
          + "or set auth.allow_open_remote: true if this is intended",
      ])
  }

  @Test func `the parts of a problem are available to programs too`() throws {
    let error = #expect(throws: ConfigurationError.self) {
      try Configuration.load(file: nil, environment: ["RELAY_LOOPS": "x"])
    }
    let problem = try #require(error?.problems.first)
    #expect(error?.problems.count == 1)
    #expect(problem.place == .environment)
    #expect(problem.key == "RELAY_LOOPS")
    #expect(problem.found == #"is "x""#)
    #expect(problem.expected == "expected a whole number from 0 to 1024")
  }

  @Test func `control characters and text directions are escaped, and long values cut`()
    throws
  {
    let long = String(repeating: "x", count: 70)
    #expect(
      try complaints(about: "loops: \"\\e[31m\\u202e\"\ndrain_s: \(long)") == [
        #":1: loops is "\u001b[31m\u202e"; expected a whole number from 0 to 1024"#,
        ":2: drain_s is \"\(long.prefix(60))…\"; expected a whole number from 0 to 3600",
      ])
  }
}

@Suite struct `Configuration, keys that cannot be combined` {
  @Test(arguments: ["0.0.0.0:8080", "[::]:80", "10.0.0.1:0", "chat.example.org:80"])
  func `open mode that is reachable by other machines must be allowed`(listen: String) throws {
    let yaml = "listen: \"\(listen)\""
    let sentences = try complaints(about: "# first\n" + yaml)
    #expect(sentences.count == 1)
    #expect(sentences[0].hasPrefix(":2: listen is \"\(listen)\", which other machines can reach, "))
    #expect(sentences[0].hasSuffix("set auth.allow_open_remote: true if this is intended"))
    #expect(try complaints(about: yaml + "\nauth: { allow_open_remote: true }") == [])
    #expect(try complaints(about: yaml + "\nauth: { mode: jwt, public_key: key.pem }") == [])
  }

  private static let postgres = "log: { engine: postgresql, url: \"postgresql:///relay\" }"

  @Test(arguments: [
    ("files: { s3: { endpoint: \"https://s3.example.org\" } }", "files.s3.bucket is empty"),
    (
      "files: { s3: { bucket: chat }, bytes: 5 }\n\(postgres)",
      "files.bytes is 5, and files.s3.bucket is set"
    ),
    (
      "files: { s3: { bucket: chat } }\nlimits: { file_bytes: 0 }\n\(postgres)",
      "expected 1 to 167772160000: a file has at most 10,000 parts of 16 MiB in S3"
    ),
    ("files: { s3: { bucket: chat } }", "files.s3.bucket is set, but the log is in SQLite"),
    ("files: { s3: { bucket: \"a/b\" } }", "the name of a bucket"),
    (
      "files: { s3: { bucket: chat, endpoint: \"s3.example.org\" } }\n\(postgres)",
      "an address such as"
    ),
  ])
  func `a bucket for files needs a name, and files that fit`(yaml: String, complaint: String)
    throws
  {
    let sentences = try complaints(about: yaml)
    #expect(sentences.count == 1 && sentences[0].contains(complaint), "\(sentences)")
  }

  @Test(arguments: [
    ("files: { host: \"Files.example.org\" }", "a name in lower case"),
    ("files: { host: \"https://files.example.org\" }", "a name in lower case"),
    ("files: { host: \"files.example.org:0\" }", "a name in lower case"),
    ("files: { host: files.example.org }", "auth.public_url is empty"),
    (
      "files: { host: \"chat.example.org:444\" }\nauth: { public_url: \"https://chat.example.org/\" }",
      "files.host is the host of auth.public_url"
    ),
  ])
  func `the host of files is another one than the page's`(yaml: String, complaint: String) throws {
    let sentences = try complaints(about: yaml)
    #expect(sentences.count == 1 && sentences[0].contains(complaint), "\(sentences)")
    #expect(try complaints(about: "files: { host: localhost }") == [])
  }

  @Test(arguments: [
    (
      "{ engine: postgresql }",
      ":1: log.engine is postgresql, but log.url is empty; set log.url to the connection URI, "
        + "such as postgresql:///relay, or RELAY_LOG_URL in the environment"
    ),
    (
      "{ url: \"postgresql:///relay\" }",
      ":1: log.url is set, but log.engine is sqlite; set log.engine: postgresql, or remove the URL"
    ),
    (
      "{ engine: postgresql, url: \"postgresql:///relay\", durability: memory }",
      ":1: log.durability is memory, but log.engine is postgresql; choose fsync or os, "
        + "or remove log.engine"
    ),
    (
      "{ read_url: \"postgresql:///relay\" }",
      ":1: log.read_url is set, but log.engine is sqlite; set log.engine: postgresql, "
        + "or remove the URL"
    ),
    (
      "{ require: replicated }",
      ":1: log.require is replicated, but log.engine is sqlite, which has no replicas; "
        + "set log.engine: postgresql, or log.require: local"
    ),
    (
      "{ engine: postgresql, url: \"postgresql:///relay\", require: twice }",
      ":1: log.require is \"twice\"; expected local or replicated"
    ),
  ])
  func `a log in PostgreSQL has a URL, and others have none`(
    yaml: String, complaint: String
  ) throws {
    #expect(try complaints(about: "log: \(yaml)") == [complaint])
  }

  @Test func `tokens need one key, and a secret that cannot be guessed`() throws {
    let both = "\(String(repeating: "s", count: 32)), public_key: key.pem"
    for (yaml, complaint) in [
      (
        "{ mode: jwt }",
        ":1: auth.mode is jwt, and neither of auth.secret and auth.public_key is set; "
      ),
      (
        "{ mode: jwt, secret: \(both) }",
        ":1: auth.mode is jwt, and both of auth.secret and auth.public_key are set; "
      ),
      (
        "{ mode: jwt, secret: \(String(repeating: "s", count: 31)) }",
        ":1: auth.secret has only 31 bytes and can be guessed; expected at least 32; \"openssl rand -hex 32\" creates one"
      ),
    ] {
      let sentences = try complaints(about: "auth: \(yaml)")
      #expect(sentences.count == 1)
      #expect(sentences[0].hasPrefix(complaint), "\(sentences)")
    }
    #expect(
      try complaints(about: "auth: { mode: jwt, secret: \(String(repeating: "s", count: 32)) }")
        == [])
    // In preparation for a change of the mode.
    #expect(try complaints(about: "auth: { public_key: key.pem }") == [])
  }

  @Test func `an operator is identified by a token`() throws {
    #expect(
      try complaints(about: "auth: { operators: [ada] }") == [
        ":1: auth.operators is set, but auth.mode is open and any client may claim to be an operator; "
          + "set auth.mode: jwt, or leave it empty and set metrics.token to read the metrics, and "
          + "admin.token for all that operators do"
      ])
  }

  @Test func `a token for the metrics cannot be guessed`() throws {
    #expect(
      try complaints(about: "metrics: { token: 123456789012345 }") == [
        ":1: metrics.token has only 15 bytes and can be guessed; expected at least 16; "
          + "\"openssl rand -hex 16\" creates one"
      ])
    #expect(try complaints(about: "metrics: { token: 1234567890123456 }") == [])
  }

  @Test func `a token for administration cannot be guessed, and is not that for the metrics`()
    throws
  {
    let token = String(repeating: "t", count: 32)
    #expect(
      try complaints(about: "admin: { token: \(token.dropLast()) }") == [
        ":1: admin.token has only 31 bytes and can be guessed; expected at least 32; "
          + "\"openssl rand -hex 32\" creates one"
      ])
    #expect(
      try complaints(about: "{ metrics: { token: \(token) }, admin: { token: \(token) } }") == [
        ":1: admin.token is also metrics.token, whose holder only reads the metrics; "
          + "expected another one; \"openssl rand -hex 32\" creates one"
      ])
    #expect(try complaints(about: "admin: { token: \(token) }") == [])
  }

  @Test(arguments: [
    "127.0.0.1/33", "10.0.0.1/8", "fd00::1/8", "::/129", "localhost", "10.0.0.0/", "/8",
    "10.0.0.0/-1",
    "10.0.0.0/8/8", "[::1]", "127.0.0.1:80", "",
  ])
  func `a trusted proxy is an address or a network`(range: String) throws {
    #expect(
      try complaints(about: "trusted_proxies: ['\(range)']").first?.contains(
        "expected an address such as 127.0.0.1, or a network") == true)
    #expect(
      try complaints(
        about: "trusted_proxies: [127.0.0.1, '::1', 10.0.0.0/8, 'fd00::/8', 0.0.0.0/0]")
        == [])
  }

  @Test func `a relay with the PROXY protocol has trusted proxies`() throws {
    #expect(
      try complaints(about: "proxy_protocol: true") == [
        ":1: proxy_protocol is true, but trusted_proxies is empty, so that every connection would be "
          + "refused; set trusted_proxies to the addresses of the proxies, such as [127.0.0.1]"
      ])
    #expect(try complaints(about: "{ proxy_protocol: true, trusted_proxies: [10.0.0.1] }") == [])
  }

  @Test(arguments: [
    "chat", "/", "/chat/", "//chat", "/a//b", "/a/../b", "/%20", "/ä", "/a?b", "/a b",
  ])
  func `a prefix is a path without a slash at the end`(prefix: String) throws {
    #expect(
      try complaints(about: "path_prefix: '\(prefix)'").first?.contains("a path such as /chat")
        == true)
    #expect(try complaints(about: "path_prefix: /a/B-2._~") == [])
  }

  @Test func `a bot is not banned`() throws {
    #expect(
      try complaints(
        about: "bots: [{ user: echo, behaviour: echo }]\nauth: { banned: [ada, echo] }")
        == [
          #":2: auth.banned names "echo", a bot of this relay; remove it from the list, or from bots"#
        ])
  }

  @Test func `a text that the limits allow fits a frame`() throws {
    #expect(
      try complaints(about: "limits:\n  text_bytes: 10000\n  frame_bytes: 31023") == [
        ":3: limits.frame_bytes is 31023; a text of limits.text_bytes (10000) takes up to 31024 "
          + "as JSON; raise it, or lower limits.text_bytes"
      ])
    #expect(try complaints(about: "limits: { text_bytes: 10000, frame_bytes: 31024 }") == [])
    #expect(try complaints(about: "limits: { frame_bytes: 0, queue_bytes: 65536 }") == [])
    #expect(try complaints(about: "limits: { text_bytes: 0, frame_bytes: 100 }") == [])
  }

  @Test func `a default that does not fit is named as such`() throws {
    #expect(
      try complaints(about: "limits: { text_bytes: 30000 }") == [
        "defaults: limits.frame_bytes is 65536; a text of limits.text_bytes (30000) takes up to "
          + "91024 as JSON; raise it, or lower limits.text_bytes"
      ])
  }

  @Test func `a queue holds at least a page, and a frame`() throws {
    #expect(
      try complaints(about: "limits: { queue_bytes: 65535 }") == [
        ":1: limits.queue_bytes is 65535; expected at least 65536, for one message of "
          + "limits.frame_bytes and one page of 65536"
      ])
    #expect(
      try complaints(about: "limits: { queue_bytes: 99999, frame_bytes: 100000 }") == [
        ":1: limits.queue_bytes is 99999; expected at least 100000, for one message of "
          + "limits.frame_bytes and one page of 65536"
      ])
    #expect(try complaints(about: "limits: { queue_bytes: 65536 }") == [])
    #expect(try complaints(about: "limits: { queue_bytes: 0 }") == [])
  }

  @Test func `a limited sender may send at least one`() throws {
    #expect(
      try complaints(about: "limits: { burst: 0 }") == [
        ":1: limits.burst is 0; expected at least 1 if limits.sends_per_s is set, "
          + "or no send would be accepted"
      ])
    #expect(try complaints(about: "limits: { burst: 0, sends_per_s: 0, bytes_per_s: 0 }") == [])
  }

  @Test func `a quiet client is pinged before it is closed`() throws {
    #expect(
      try complaints(about: "limits: { idle_timeout_s: 25 }") == [
        ":1: limits.idle_timeout_s is 25; expected more than limits.heartbeat_s (25), "
          + "or quiet clients are disconnected before they are pinged"
      ])
    #expect(try complaints(about: "limits: { idle_timeout_s: 26 }") == [])
    #expect(try complaints(about: "limits: { idle_timeout_s: 0 }") == [])
    #expect(try complaints(about: "limits: { heartbeat_s: 0 }") == [])
  }
}
