internal import Directories

extension Configuration {
  /// Lets a directory without a source list the organization whose members sign in at GitHub.
  package mutating func adoptOrganization() {
    guard directory.kind == .github, directory.source.isEmpty, signsInAtGitHub,
      !auth.gitHub.organization.isEmpty,
      directory.baseURL.isEmpty || directory.baseURL == auth.gitHub.apiURL
    else { return }
    directory.source = "org:\(auth.gitHub.organization)"
    directory.baseURL = auth.gitHub.apiURL
  }

  private var signsInAtGitHub: Bool { auth.mode == .accounts && auth.signIn.contains(.github) }

  /// The contradictions of `directory.*`.
  func directoryContradictions() -> [Contradiction] {
    unusedContradictions() + kindContradictions()
  }

  private func kindContradictions() -> [Contradiction] {
    switch directory.kind {
    case .local: []
    case .github:
      gitHubContradictions()
        + clearTextContradictions(
          hasSecret: !directory.token.isEmpty || !directory.tokenCommand.isEmpty)
    case .x: xContradictions() + clearTextContradictions(hasSecret: true)
    }
  }

  /// Keys that the kind does not use.
  private func unusedContradictions() -> [Contradiction] {
    func isSet<Value: Equatable>(_ key: KeyPath<Directory, Value>) -> Bool {
      directory[keyPath: key] != Directory()[keyPath: key]
    }
    let keys: [(name: String, isSet: Bool, kinds: Set<DirectoryKind>)] = [
      ("file", isSet(\.file), [.local]),
      ("source", isSet(\.source), [.github, .x]),
      ("base_url", isSet(\.baseURL), [.github, .x]),
      ("token", isSet(\.token), [.github]),
      ("token_command", isSet(\.tokenCommand), [.github]),
      ("api", isSet(\.api), [.x]),
      ("key", isSet(\.key), [.x]),
      ("secret", isSet(\.secret), [.x]),
      ("refresh_s", isSet(\.refreshSeconds), [.github, .x]),
      ("max", isSet(\.peopleLimit), [.github, .x]),
    ]
    return keys.filter { $0.isSet && !$0.kinds.contains(directory.kind) }.map {
      Contradiction(
        key: "directory.\($0.name)",
        found: "is set, but directory.kind is \(directory.kind.rawValue), which does not use it",
        expected: "remove it, or set directory.kind to "
          + $0.kinds.map(\.rawValue).sorted().joined(separator: " or "))
    }
  }

  private func gitHubContradictions() -> [Contradiction] {
    var found: [Contradiction] = []
    if GitHubSource(directory.source) == nil {
      found.append(
        sourceContradiction(
          "expected org:NAME, followers:NAME, following:NAME or users"
            + (signsInAtGitHub
              ? "; the default is the organization of auth.github, if it is the same service" : ""))
      )
    }
    if !directory.token.isEmpty, !directory.tokenCommand.isEmpty {
      found.append(
        Contradiction(
          key: "directory.token_command", found: "and directory.token are both set",
          expected: "remove one of them"))
    }
    if !directory.token.isEmpty, !TokenSource.isToken(directory.token) {
      found.append(
        Contradiction(
          key: "directory.token", found: "has characters that are not allowed in a token",
          expected: "expected printable ASCII without spaces"))
    }
    return found
  }

  private func xContradictions() -> [Contradiction] {
    var found: [Contradiction] = []
    if XService.account(in: directory.source) == nil {
      found.append(sourceContradiction("expected followers:NAME"))
    }
    for (key, value) in [("key", directory.key), ("secret", directory.secret)] where value.isEmpty {
      found.append(
        Contradiction(
          key: "directory.\(key)", found: "is empty, but directory.kind is x",
          expected: "set the key and secret of an application registered with X"))
    }
    return found
  }

  private func sourceContradiction(_ expected: String) -> Contradiction {
    let found = directory.source.isEmpty ? "is empty" : "is \(directory.source)"
    return Contradiction(
      key: "directory.source",
      found: "\(found), but directory.kind is \(directory.kind.rawValue)",
      expected: expected)
  }

  /// A secret is sent without TLS only to this machine.
  private func clearTextContradictions(hasSecret: Bool) -> [Contradiction] {
    guard hasSecret, let address = WebAddress(directory.serviceURL), !address.isEncrypted,
      !address.isLoopback
    else { return [] }
    return [
      Contradiction(
        key: "directory.base_url",
        found: "is \(directory.baseURL), which would send the token unencrypted",
        expected: "expected https")
    ]
  }
}

extension Configuration.Directory {
  /// The URL of the service's API.
  package var serviceURL: String {
    guard baseURL.isEmpty else { return baseURL }
    return kind == .x ? "https://api.x.com" : "https://api.github.com"
  }
}
