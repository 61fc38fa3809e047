internal import Directories

extension Configuration {
  /// The contradictions of `directory.*`.
  func directoryContradictions() -> [Contradiction] {
    switch directory.kind {
    case .local: []
    case .github:
      gitHubContradictions()
        + clearTextContradictions(
          hasSecret: !directory.token.isEmpty || !directory.tokenCommand.isEmpty)
    case .x: xContradictions() + clearTextContradictions(hasSecret: true)
    }
  }

  private func gitHubContradictions() -> [Contradiction] {
    var found: [Contradiction] = []
    if GitHubSource(directory.source) == nil {
      found.append(
        sourceContradiction("expected org:NAME, followers:NAME, following:NAME or users"))
    }
    if !directory.token.isEmpty, !directory.tokenCommand.isEmpty {
      found.append(
        Contradiction(
          key: "directory.token_command", found: "is set, and so is directory.token",
          expected: "keep one of them"))
    }
    if !directory.token.isEmpty, !TokenSource.isToken(directory.token) {
      found.append(
        Contradiction(
          key: "directory.token", found: "has characters that no token has",
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
          key: "directory.\(key)", found: "is empty, while directory.kind is x",
          expected: "set key and secret of an application that X knows"))
    }
    return found
  }

  private func sourceContradiction(_ expected: String) -> Contradiction {
    let found = directory.source.isEmpty ? "is empty" : "is \(directory.source)"
    return Contradiction(
      key: "directory.source",
      found: "\(found), while directory.kind is \(directory.kind.rawValue)",
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
        found: "is \(directory.baseURL), where others could read the token",
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
