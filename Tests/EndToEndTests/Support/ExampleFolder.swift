import TestSupport

/// A folder in which examples of documents run: with the commands and files that documents name,
/// and a relay like that of `make run`, which stores its data in `data`.
final class ExampleFolder {
  let folder: TemporaryFolder
  private let relay: RelayProcess?
  private let certificates: Certificates

  /// - Parameter hasRelay: false for examples that start a relay of their own.
  init(hasRelay: Bool = true) throws {
    folder = try TemporaryFolder()
    certificates = try Certificates()
    try run("mkdir", "-p", folder[".build"], folder["home/.config/wschat"])
    try run("ln", "-s", Programs.folder, folder[".build/release"])
    for name in ["config", "LoadTests"] { try run("ln", "-s", Project[name], folder[name]) }
    try run("cp", certificates["server.pem"], folder["chain.pem"])
    try run("cp", certificates["server.key"], folder["key.pem"])
    // curl fails at a status from 400, and writes every status to standard error.
    try folder.write(
      """
      fail
      silent
      write-out = "\\n%{stderr}%{http_code}\\n"

      """, to: ".curlrc")
    relay =
      try hasRelay
      ? RelayProcess(
        """
        bots:
          - { user: echo, name: Echo, behaviour: echo, reply_delay_s: [0, 0] }
          - { user: metronome, behaviour: every, rooms: [general], interval_s: 0.1, lines: [Tick.] }
        """, in: folder) : nil
  }

  /// The command `env` with the variables of programs that run here. Each is unset first, since a
  /// variable that is set twice has either value, depending on the program.
  var env: [String] {
    var variables = [
      "PATH": "\(Programs.folder):\(Programs.environment("PATH") ?? "")", "HOME": folder["home"],
      "CURL_HOME": folder.path, "USER": "ada", "NODE_PATH": "/usr/share/nodejs",
      "PYTHONUNBUFFERED": "1", "RELAY_AUTH_SECRET": String(repeating: "0123456789abcdef", count: 2),
    ]
    variables["WSCHAT_URL"] = relay?.url
    let unset = ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] + variables.keys.sorted()
    return ["env", "-C", folder.path] + unset.flatMap { ["-u", $0] }
      + variables.map { "\($0)=\($1)" }.sorted()
  }

  /// Returns a text with the address of this folder's relay in place of that of `make run`.
  func addressed(_ text: String) -> String {
    guard let relay else { return text }
    return text.split(separator: "127.0.0.1:8080", omittingEmptySubsequences: false)
      .joined(separator: "127.0.0.1:\(relay.port)")
  }

  /// Starts a program here, without input.
  func start(_ arguments: String...) throws -> ChildProcess {
    try ChildProcess(env + arguments, input: "")
  }
}
