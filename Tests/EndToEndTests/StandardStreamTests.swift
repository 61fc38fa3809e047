import Glibc
import TestSupport
import Testing

extension `End to end` {
  @Suite struct `Standard streams` {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Runs a line of the shell, in which `$1` is the folder of the commands, and `$2` the test's.
    private func shell(_ line: String) throws -> ChildProcess {
      let process = try ChildProcess(
        ["sh", "-c", line, "sh", Programs.folder, folder.path], input: "")
      try process.wait()
      return process
    }

    /// Each with what precedes the command.
    private static let unwritable = [
      ("", ">/dev/full"), ("", ">&-"),
      // A pipe whose reader is gone.
      ("rm -f $2/pipe; mkfifo $2/pipe; exec 9<>$2/pipe 8>$2/pipe 9>&-; ", ">&8"),
    ]

    @Test func `output that cannot be written is an error`() throws {
      let relay = try RelayProcess(in: folder)
      try RawClient(relay, user: "ada").say("hi", in: "general", id: "1")
      try relay.stop()
      let secret = "export RELAY_AUTH_SECRET=0123456789abcdef0123456789abcdef; "
      for (command, code) in [
        ("relay --help", 4), ("relay --version", 4),
        ("relay check-config --config $2/relay.yaml", 4),
        ("relay token --user ada", 4), ("relay export --data $2/data", 4),
        ("relay verify --data $2/data", 4), ("relay migrate --data $2/data", 4),
        ("wschat --help", 1), ("wschat --version", 1), ("swarm --help", 2),
      ] as [(String, Int32)] {
        for (preparation, redirection) in Self.unwritable {
          let prefix = command.contains("token") ? secret : ""
          let process = try shell("\(prefix)\(preparation)$1/\(command) \(redirection)")
          #expect(try process.wait() == .exit(code), "\(command) \(redirection)")
          #expect(
            process.errors.contains("Standard output could not be written"), "\(process.errors)")
        }
      }
    }

    @Test func `wschat ends with 1 if lines of its output are lost`() throws {
      let relay = try RelayProcess(in: folder)
      try RawClient(relay, user: "bo").say("hi", in: "general", id: "1")
      let chat = "$1/wschat \(relay.url) --user ada --room general --history 5"
      for (preparation, redirection) in Self.unwritable + [("", ">&- 2>&-")] {
        let process = try shell("\(preparation)\(chat) \(redirection)")
        #expect(try process.wait() == .exit(1), "\(redirection): \(process.errors)")
      }
    }

    @Test(arguments: ["<&-", "2>&-", "<&- 2>&-"])
    func `a command that was started without some of them opens nothing else there`(
      _ redirection: String
    ) throws {
      let relay = try RelayProcess(in: folder)
      try RawClient(relay, user: "bo").say("hi", in: "general", id: "1")
      let chat = try shell(
        "$1/wschat \(relay.url) --user ada --room general --history 5 \(redirection)")
      #expect(try chat.wait() == .exit(0), "\(chat.errors)")
      #expect(chat.output.contains("hi"))
      try relay.stop()

      let process = try ChildProcess(
        [
          "sh", "-c", "exec $1/relay serve --listen 127.0.0.1:0 --data $2/data \(redirection)",
          "sh",
          Programs.folder, folder.path,
        ], input: "")
      let descriptors = "/proc/\(process.id)/fd"
      // Its log is opened after all others of these.
      #expect(
        try becomesTrue {
          try fileNames(in: descriptors).contains {
            try target(of: "\(descriptors)/\($0)").hasSuffix("index.db")
          }
        })
      if redirection.contains("<&-") {
        #expect(try target(of: "\(descriptors)/0") == "/dev/null")
      }
      if redirection.contains("2>&-") {
        #expect(try target(of: "\(descriptors)/2") == "/dev/null")
      }
      process.signal(SIGTERM)
      #expect(try process.wait() == .exit(0))
    }

    private func target(of link: String) throws -> String {
      let process = try ChildProcess(["readlink", link], input: "")
      try process.wait()
      return String(process.output.dropLast())
    }
  }
}
