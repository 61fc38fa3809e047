import ArgumentParser
import Glibc
import Platform
internal import RelayConfiguration
import Server

/// The subcommand `init`: writes a first configuration.
struct Init: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write a configuration, by a few questions or by flags, and say what to do next.",
    discussion: """
      On a terminal, what no flag says is asked. Elsewhere nothing is asked, and missing flags are an \
      error. Checks the certificate and its key, the host name, and that the relay can listen on the \
      address. Never replaces a file without --force.
      """)

  typealias Place = InitialConfiguration.Place
  typealias Entry = InitialConfiguration.Entry

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "Where clients are: machine, proxy or internet.", valueName: "place"),
    transform: Self.named)
  var place: Place?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The name by which browsers find the relay.", valueName: "name"))
  var host: String?

  @Option(help: ArgumentHelp("The address for clients.", valueName: "host:port"))
  var listen: String?

  @Option(
    help: ArgumentHelp(
      "Who may enter: everyone, invited, github, openid or tokens.", valueName: "users"),
    transform: Self.named)
  var enter: Entry?

  @Option(
    help: ArgumentHelp("The folder that holds the log.", valueName: "dir"), completion: .directory)
  var data: String?

  @Option(
    help: ArgumentHelp("The certificate and its intermediates, in PEM.", valueName: "file"),
    completion: .file())
  var certificate: String?

  @Option(
    help: ArgumentHelp("The key of the certificate, in PEM.", valueName: "file"),
    completion: .file())
  var key: String?

  @Option(
    name: .customLong("client-id"), parsing: .unconditional,
    help: ArgumentHelp("What GitHub or the provider calls the relay.", valueName: "id"))
  var clientID: String?

  @Option(
    help: ArgumentHelp(
      "A file whose first line is the secret of the client ID.", valueName: "file"),
    completion: .file())
  var clientSecretFile: String?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Whose members at GitHub enter.", valueName: "name")
  )
  var organization: String?

  @Option(help: ArgumentHelp("The address of the OpenID provider.", valueName: "url"))
  var issuer: String?

  @Option(
    help: ArgumentHelp("The file to write.", valueName: "file"),
    completion: .file(extensions: ["yaml"]))
  var config = "relay.yaml"

  @Flag(help: "Replace the file if it exists.")
  var force = false

  private static let clientSecretLimitBytes = 4096

  private static func named<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: String
  ) throws -> Choice {
    if let choice = Choice(rawValue: name) { return choice }
    let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    throw ValidationError("\"\(name)\" is none of \(names).")
  }

  func run() throws {
    if !force, unsafe access(config, F_OK) == 0 {
      throw Questions.refusal(
        "\(config) exists. Choose another file with --config, or replace it with --force.")
    }
    var questions = Questions()
    let initial = try ask(&questions)
    do throws(SystemError) {
      try WholeFile.replace(config, with: Array(initial.yaml.utf8))
      if !initial.hasSecrets, unsafe chmod(config, 0o644) != 0 {
        throw SystemError.last("chmod \(config)")
      }
    } catch {
      StandardError.write("The configuration cannot be written: \(error).\n")
      throw ExitCode.configuration
    }
    StandardOutput.write(NextSteps(initial, config: config).text)
  }

  /// - Throws: the exit code after an answer that is refused, or what is missing.
  private func ask(_ questions: inout Questions) throws -> InitialConfiguration {
    let place = try questions.choice(
      place, flag: "--for", "Where are the relay's clients?", Self.meaning)
    let entry = try questions.choice(enter, flag: "--enter", "Who may enter?", Self.meaning)
    // The rest depends on these two.
    guard let place, let entry else {
      try questions.checkComplete()
      preconditionFailure("a choice is missing only if its flag is")
    }
    try checkFlags(place, entry)
    var initial = InitialConfiguration(place: place, entry: entry)
    if place != .machine {
      initial.host = try questions.answer(
        host, flag: "--host", "The name by which browsers find it, such as chat.example.org",
        problem: InitialConfiguration.problem(ofHost:)
      ).lowercased()
    }
    initial.listen = try questions.answer(
      listen, flag: "--listen", "The address to listen on", standard: place.listen
    ) { InitialConfiguration.problem(ofListen: $0, at: place) ?? Self.problem(ofBinding: $0) }
    if place == .internet { initial.tls = try askForFiles(&questions) }
    try askForProvider(of: &initial, &questions)
    initial.dataFolder = try questions.answer(
      data, flag: "--data", "The folder for all messages", standard: place.dataFolder)
    try questions.checkComplete()
    if entry == .tokens { initial.secret = Self.randomSecret() }
    return initial
  }

  /// - Throws: the exit code, if a flag is given that the two choices do not use.
  private func checkFlags(_ place: Place, _ entry: Entry) throws {
    let atProvider = [Entry.github, .openid].contains(entry)
    let flags: [(name: String, value: String?, choice: String, isUsed: Bool, users: String)] = [
      ("--host", host, "--for", place != .machine, "proxy and internet"),
      ("--certificate", certificate, "--for", place == .internet, "internet"),
      ("--key", key, "--for", place == .internet, "internet"),
      ("--client-id", clientID, "--enter", atProvider, "github and openid"),
      ("--client-secret-file", clientSecretFile, "--enter", atProvider, "github and openid"),
      ("--organization", organization, "--enter", entry == .github, "github"),
      ("--issuer", issuer, "--enter", entry == .openid, "openid"),
    ]
    for flag in flags where flag.value != nil && !flag.isUsed {
      let chosen = flag.choice == "--for" ? place.rawValue : entry.rawValue
      throw Questions.refusal(
        "\(flag.name) is for \(flag.choice) \(flag.users), and has no effect with \(flag.choice) \(chosen). "
          + "Leave it out, or change \(flag.choice).")
    }
  }

  private func askForFiles(_ questions: inout Questions) throws -> Configuration.TLS {
    while true {
      var configuration = Configuration()
      configuration.tls.certificate = try questions.answer(
        certificate, flag: "--certificate", "The file of the certificate, with its intermediates")
      configuration.tls.key = try questions.answer(key, flag: "--key", "The file of its key")
      if !questions.missing.isEmpty { return configuration.tls }
      do throws(ServerError) {
        try Server.check(configuration, logger: OperatorLog.logger())
        return configuration.tls
      } catch {
        guard questions.isTerminal, certificate == nil || key == nil else {
          throw Questions.refusal("\(error)")
        }
        StandardError.write("\(error)\n")
      }
    }
  }

  private func askForProvider(
    of initial: inout InitialConfiguration, _ questions: inout Questions
  ) throws {
    let entry = initial.entry
    guard entry == .github || entry == .openid else { return }
    if entry == .openid {
      initial.issuer = try questions.answer(
        issuer, flag: "--issuer", "The address of the provider, such as https://id.example.org",
        problem: InitialConfiguration.problem(ofIssuer:))
    } else {
      initial.organization = try questions.answer(
        organization, flag: "--organization", "The organization at GitHub whose members enter",
        standard: "")
    }
    initial.clientID = try questions.answer(
      clientID, flag: "--client-id", "The client ID that it has given the relay")
    initial.clientSecret = try questions.answer(
      try clientSecretFile.map(Self.firstLine), flag: "--client-secret-file", "Its secret",
      standard: entry == .openid ? "" : nil, isSecret: true)
  }

  private static func firstLine(of file: String) throws -> String {
    do throws(SystemError) {
      let bytes = try WholeFile.read(file, limitBytes: clientSecretLimitBytes)
      return String(decoding: bytes.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    } catch {
      throw Questions.refusal("The secret of the client ID cannot be read: \(error).")
    }
  }

  private static func randomSecret() -> String {
    (0..<32).map { _ in
      let byte = String(UInt8.random(in: 0...255), radix: 16)
      return byte.count == 1 ? "0\(byte)" : byte
    }.joined()
  }

  /// Returns why the relay could not listen on an address, and what to do; `nil` if it could.
  private static func problem(ofBinding listen: String) -> String? {
    let address: Address
    do throws(AddressError) {
      guard let first = try Address.resolve(listen).first else { return nil }
      address = first
    } catch {
      return "The relay cannot listen on \(listen): \(error)."
    }
    do throws(SystemError) {
      _ = try Listener.claim(address)
      return nil
    } catch {
      let advice =
        switch error.code {
        case EADDRINUSE: "another program does. Stop it, or choose another port."
        case EACCES:
          "only root may use a port below 1024. Run this command and the relay as root or under "
            + "systemd, whose socket the relay takes, or choose a port such as 8443."
        case EADDRNOTAVAIL:
          "it is no address of this machine. Choose one that is, or 0.0.0.0 for all."
        default: "\(error)."
        }
      return "The relay cannot listen on \(listen): \(advice)"
    }
  }

  private static func meaning(of place: Place) -> String {
    switch place {
    case .machine: "on this machine only"
    case .proxy: "behind a proxy on this machine, which has the certificate"
    case .internet: "anywhere; the relay has the certificate"
    }
  }

  private static func meaning(of entry: Entry) -> String {
    switch entry {
    case .everyone: "whoever reaches it, under any name; for tests and trusted networks"
    case .invited: "people with a link that another user has made"
    case .github: "people with an account at GitHub, or an organization's members"
    case .openid: "people with an account at an OpenID provider"
    case .tokens: "users of your own service, which signs tokens (JWT)"
    }
  }
}
