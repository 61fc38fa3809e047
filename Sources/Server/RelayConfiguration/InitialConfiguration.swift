internal import YAML

/// The first configuration of a relay, made of the answers to a few questions: the keys that they decide,
/// with comments, and nothing else.
public struct InitialConfiguration: Equatable, Sendable {
  /// Where clients are.
  public enum Place: String, CaseIterable, Sendable {
    case machine, proxy, internet
  }

  /// Who may enter.
  public enum Entry: String, CaseIterable, Sendable {
    case everyone, invited, github, openid, tokens

    /// Whether people sign in at the relay, so that its first start makes a link for an operator.
    public var hasAccounts: Bool {
      switch self {
      case .invited, .github, .openid: true
      case .everyone, .tokens: false
      }
    }
  }

  public var place: Place
  public var entry: Entry
  public var listen: String
  public var dataFolder: String
  /// Where browsers find the relay, without the scheme: `chat.example.org`; empty = where it listens.
  public var host = ""
  public var tls = Configuration().tls
  /// What GitHub or the OpenID provider calls the relay.
  public var clientID = ""
  /// Empty = a public client of an OpenID provider.
  public var clientSecret = ""
  public var issuer = ""
  /// The organization at GitHub whose members enter; empty = everyone there.
  public var organization = ""
  /// The key that signs tokens.
  public var secret = ""

  public init(
    place: Place, entry: Entry, listen: String? = nil, dataFolder: String? = nil, host: String = ""
  ) {
    self.place = place
    self.entry = entry
    self.listen = listen ?? place.listen
    self.dataFolder = dataFolder ?? place.dataFolder
    // As browsers write it in Origin.
    self.host = host.lowercased()
  }

  /// Whether others must not read the file.
  public var hasSecrets: Bool { !secret.isEmpty || !clientSecret.isEmpty }

  /// What links, callbacks at providers, and people begin with.
  public var publicURL: String {
    if !host.isEmpty { return "https://\(host)" }
    return "\(tls.isOff ? "http" : "https")://\(listen)"
  }
}

extension InitialConfiguration.Place {
  /// The default of `listen`.
  public var listen: String {
    switch self {
    case .machine, .proxy: "127.0.0.1:8080"
    case .internet: "0.0.0.0:443"
    }
  }

  /// The default of `data`.
  public var dataFolder: String {
    switch self {
    case .machine: "./data"
    case .proxy, .internet: "/var/lib/relay"
    }
  }
}

extension InitialConfiguration {
  private struct Line {
    var text: String
    var comment: String
  }

  /// The file, without the errors that `relay check-config` finds.
  public var yaml: String {
    var lines = [
      Line(text: "listen: \(YAMLText.written(listen))", comment: place.listenComment),
      Line(
        text: "data: \(YAMLText.written(dataFolder))", comment: "the folder with all messages"),
    ]
    if place == .proxy {
      lines.append(
        Line(
          text: "trusted_proxies: [127.0.0.1]",
          comment: "believed what it says of the addresses of clients"))
    }
    if !tls.isOff {
      lines.append(Line(text: "tls:", comment: "renewed files are read on SIGHUP"))
      lines.append(
        Line(
          text: "  certificate: \(YAMLText.written(tls.certificate))",
          comment: "the relay's, then the intermediates"))
      lines.append(
        Line(text: "  key: \(YAMLText.written(tls.key))", comment: "without a passphrase"))
    }
    lines.append(Line(text: "auth:", comment: ""))
    lines += entryLines
    // A long value, such as a secret, has its comment right after it.
    let widths = lines.filter { !$0.comment.isEmpty }.map(\.text.count).filter { $0 <= 40 }
    let column = 2 + (widths.max() ?? 0)
    let body = lines.map { line in
      let gap = String(repeating: " ", count: max(2, column - line.text.count))
      return line.comment.isEmpty ? line.text : "\(line.text)\(gap)# \(line.comment)"
    }
    return """
      # The configuration of a relay, as relay init has made it. The keys that are not here have their
      # defaults: relay check-config prints all, and relay.yaml in share/doc/relay explains them.

      \(body.joined(separator: "\n"))

      """
  }

  private var entryLines: [Line] {
    var lines: [Line] = []
    func add(_ text: String, _ comment: String = "") {
      lines.append(Line(text: text, comment: comment))
    }
    switch entry {
    case .everyone:
      add("  mode: open", "any client may claim any name")
      if Configuration.ListenAddress(listen)?.isLoopback == false {
        add("  allow_open_remote: true", "also clients on other machines")
      }
    case .tokens:
      add("  mode: jwt", "another service says who users are, by tokens")
      add("  secret: \(YAMLText.written(secret))", "signs them (HS256); who has it can be any user")
    case .invited, .github, .openid:
      add("  mode: accounts", "people sign in here")
      if !host.isEmpty {
        add("  public_url: \(YAMLText.quoted(publicURL))", "what links begin with")
      }
      add("  sign_in: [\(signInMethod)]", "or several: invite, github, oidc")
    }
    switch entry {
    case .github:
      add("  github:")
      add("    client_id: \(YAMLText.quoted(clientID))")
      add("    client_secret: \(YAMLText.quoted(clientSecret))")
      add(
        "    organization: \(YAMLText.quoted(organization))",
        "whose members enter; empty = everyone with an account at GitHub")
    case .openid:
      add("  oidc:")
      add("    issuer: \(YAMLText.quoted(issuer))")
      add("    client_id: \(YAMLText.quoted(clientID))")
      add("    client_secret: \(YAMLText.quoted(clientSecret))", "empty = a public client")
    case .everyone, .invited, .tokens: break
    }
    return lines
  }

  private var signInMethod: String {
    switch entry {
    case .github: Configuration.SignInMethod.github.rawValue
    case .openid: Configuration.SignInMethod.oidc.rawValue
    default: Configuration.SignInMethod.invite.rawValue
    }
  }
}

extension InitialConfiguration.Place {
  fileprivate var listenComment: String {
    switch self {
    case .machine: "only programs on this machine reach it"
    case .proxy: "only the proxy on this machine reaches it"
    case .internet: "all addresses of this machine"
    }
  }
}

// MARK: - Answers

extension InitialConfiguration {
  /// Returns what is wrong with an address to listen on, and what to do; `nil` = nothing.
  public static func problem(ofListen text: String, at place: Place) -> String? {
    guard let address = Configuration.ListenAddress(text) else {
      return "\(YAMLText.quoted(text)) is no address to listen on; write HOST:PORT, such as "
        + "\(place.listen)."
    }
    if place != .internet, !address.isLoopback {
      return "\(YAMLText.quoted(text)) can be reached by other machines; use 127.0.0.1, or choose "
        + "internet. For a proxy on another machine edit listen and trusted_proxies afterwards."
    }
    return nil
  }

  /// Returns what is wrong with the name under which browsers find the relay; `nil` = nothing.
  public static func problem(ofHost text: String) -> String? {
    if text.contains("://") {
      return "\(YAMLText.quoted(text)) is a URL; write only the name, such as chat.example.org."
    }
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let labels = (parts.first ?? "").split(separator: ".", omittingEmptySubsequences: false)
    let areLabels = labels.allSatisfy { label in
      (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
        && label.utf8.allSatisfy { UInt8(ascii: "-") == $0 || isLetterOrDigit($0) }
    }
    let isPort = parts.count == 1 || UInt16(parts[1]).map { $0 > 0 } == true
    guard labels.count >= 2, areLabels, isPort, text.utf8.count <= 253 else {
      return "\(YAMLText.quoted(text)) is no host name; write one such as chat.example.org, with "
        + "letters, digits and hyphens between dots."
    }
    return nil
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
  }

  /// Returns what is wrong with the address of an OpenID provider; `nil` = nothing.
  public static func problem(ofIssuer text: String) -> String? {
    ConfigurationRules.isIssuer(text)
      ? nil
      : "\(YAMLText.quoted(text)) is no address of a provider; write the issuer of its discovery "
        + "document, such as https://id.example.org."
  }
}
