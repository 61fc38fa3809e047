import Directories
import RelayConfiguration
import Testing

@Suite struct `Configuration of the directory` {
  @Test func `people come from a file by default`() throws {
    let directory = Configuration().directory
    #expect(directory.kind == .local)
    #expect(directory.file == "config/people.yaml")
    #expect(directory.peopleLimit == 10_000)
  }

  @Test func `every key is set from a file`() throws {
    let loaded = try ConfigurationFixture(
      """
      directory:
        kind: x
        source: followers:rust
        base_url: https://x.example/api
        api: 1.1
        key: k
        secret: s
        refresh_s: 60
        max: 500
      """
    ).load().get()
    var expected = Configuration().directory
    expected.kind = .x
    expected.source = "followers:rust"
    expected.baseURL = "https://x.example/api"
    expected.api = .v1
    expected.key = "k"
    expected.secret = "s"
    expected.refreshSeconds = 60
    expected.peopleLimit = 500
    #expect(loaded.directory == expected)
    let local = try ConfigurationFixture("directory: { file: other.yaml }").load().get()
    #expect(local.directory.file == "other.yaml")
    let github = try ConfigurationFixture(
      "directory: { kind: github, source: users, token_command: gh auth token | tail -1 }"
    ).load().get()
    #expect(github.directory.tokenCommand == "gh auth token | tail -1")
  }

  @Test(arguments: [
    ("token: a", "token", "local", "github"), ("max: 5", "max", "local", "github or x"),
    ("kind: github, source: users, secret: a", "secret", "github", "x"),
    ("kind: x, source: followers:a, key: b, secret: c, file: d", "file", "x", "local"),
  ])
  func `a key that the kind does not use is an error`(
    yaml: String, key: String, kind: String, kinds: String
  ) throws {
    #expect(
      try complaints(about: "directory: { \(yaml) }") == [
        ":1: directory.\(key) is set, but directory.kind is \(kind), which does not use it; "
          + "remove it, or set directory.kind to \(kinds)"
      ])
  }

  @Test func `every key has a variable in the environment`() throws {
    let loaded = try Configuration.load(
      file: nil,
      environment: [
        "RELAY_DIRECTORY_KIND": "github", "RELAY_DIRECTORY_SOURCE": "org:swiftlang",
        "RELAY_DIRECTORY_TOKEN": "t0ken", "RELAY_DIRECTORY_REFRESH_S": "5",
      ])
    #expect(loaded.directory.kind == .github)
    #expect(loaded.directory.source == "org:swiftlang")
    #expect(loaded.directory.token == "t0ken")
    #expect(loaded.directory.refreshSeconds == 5)
  }

  @Test func `secrets are not shown, neither in descriptions nor in errors`() throws {
    var loaded = Configuration()
    loaded.directory.token = "hush-1"
    loaded.directory.key = "hush-2"
    loaded.directory.secret = "hush-3"
    let described = loaded.described()
    #expect(!described.contains("hush"))
    for name in ["token", "key", "secret"] {
      #expect(described.contains("\n  \(name): \"(hidden)\"\n"))
    }
    #expect(
      try complaints(about: "directory: { token: [hush] }") == [
        ":1: directory.token is invalid; expected a text"
      ])
    #expect(
      try complaints(
        about: "directory: { kind: github, source: users, token: \"hush hush\" }") == [
          ":1: directory.token has characters that are not allowed in a token; "
            + "expected printable ASCII without spaces"
        ])
  }

  @Test(arguments: [
    (
      "kind: twitter", #":1: directory.kind is "twitter"; expected local, github or x"#
    ),
    (
      "sorce: users", ":1: directory.sorce is not a known key; did you mean directory.source?"
    ),
    (
      "source: \"org:\"",
      #":1: directory.source is "org:"; "#
        + "expected org:NAME, followers:NAME, following:NAME or users (of x, followers:NAME)"
    ),
    (
      "source: \"followers:a/b\"",
      #":1: directory.source is "followers:a/b"; "#
        + "expected org:NAME, followers:NAME, following:NAME or users (of x, followers:NAME)"
    ),
    (
      "base_url: ftp://a.example",
      #":1: directory.base_url is "ftp://a.example"; "#
        + "expected an http or https address such as https://github.example.org/api/v3, "
        + "without a user or a ?"
    ),
    (
      "kind: github",
      ":1: directory.source is empty, but directory.kind is github; "
        + "expected org:NAME, followers:NAME, following:NAME or users"
    ),
    (
      "kind: github, source: users, token: a, token_command: b",
      ":1: directory.token_command and directory.token are both set; remove one of them"
    ),
    (
      "kind: github, source: users, token: a, base_url: http://github.example",
      ":1: directory.base_url is http://github.example, which would send the token unencrypted; "
        + "expected https"
    ),
    (
      "kind: x, source: users, key: a, secret: b",
      ":1: directory.source is users, but directory.kind is x; expected followers:NAME"
    ),
    (
      "kind: x, source: followers:rust, key: a",
      "defaults: directory.secret is empty, but directory.kind is x; "
        + "set the key and secret of an application registered with X"
    ),
    ("max: 0", #":1: directory.max is "0"; expected a whole number from 1 to 1000000"#),
  ])
  func `an error is reported with its key`(yaml: String, sentence: String) throws {
    let told = try complaints(about: "directory: { \(yaml) }")
    let expected = yaml == "kind: github" ? "defaults\(sentence.dropFirst(2))" : sentence
    #expect(told == [expected])
  }

  @Test(arguments: [
    "kind: github, source: users, base_url: http://github.example",
    "kind: github, source: org:acme, token: a, base_url: \"http://127.0.0.1:8081/api/v3\"",
    "kind: github, source: following:Ada-L, token_command: gh auth token",
    "kind: x, source: followers:rust_lang, key: a, secret: b, api: 2",
  ])
  func `valid combinations are accepted`(yaml: String) throws {
    #expect(try complaints(about: "directory: { \(yaml) }") == [])
  }

  /// A configuration whose people sign in at GitHub.
  private func signIn(_ gitHub: String, _ directory: String) -> String {
    """
    auth:
      mode: accounts
      sign_in: [github]
      github: { client_id: a, client_secret: b\(gitHub) }
    directory: { kind: github\(directory) }
    """
  }

  @Test func `a directory without a source lists the organization of those who sign in`() throws {
    let loaded = try ConfigurationFixture(signIn(", organization: acme", "")).load().get()
    #expect(loaded.directory.source == "org:acme")
    #expect(loaded.directory.baseURL == "https://api.github.com")
    let server = "https://github.example.org/api/v3"
    let enterprise = try ConfigurationFixture(
      signIn(", organization: acme, api_url: '\(server)'", "")
    ).load().get()
    #expect(enterprise.directory.source == "org:acme")
    #expect(enterprise.directory.baseURL == server)
    let other = try ConfigurationFixture(
      signIn(", organization: acme", ", source: \"org:other\"")
    ).load().get()
    #expect(other.directory.source == "org:other")
    #expect(other.directory.baseURL == "")
  }

  @Test(arguments: [
    ("", "", "is empty"),
    (", organization: acme", ", base_url: 'https://github.example.org/api/v3'", "is empty"),
    (", organization: two words", "", "is org:two words"),
  ])
  func `otherwise it needs a source`(gitHub: String, directory: String, found: String) throws {
    let told = try complaints(about: signIn(gitHub, directory))
    #expect(
      told == [
        "defaults: directory.source \(found), but directory.kind is github; expected org:NAME, "
          + "followers:NAME, following:NAME or users; the default is the organization of auth.github, "
          + "if it is the same service"
      ])
  }
}
