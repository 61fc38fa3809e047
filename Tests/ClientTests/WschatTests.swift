import Glibc
import TestSupport
import Testing

/// The command itself, as built with the tests, in pipes.
private struct Outcome {
  let code: Int32
  let output: [String]
  let errors: String
}

private let wschat = Programs.path(of: "wschat")

/// - Parameter input: `nil` leaves standard input open.
private func start(
  _ arguments: [String], input: String? = nil, user: String = "ada"
) throws -> ChildProcess {
  try ChildProcess(
    [
      "/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "USER=\(user)", "TZ=UTC", "LC_ALL=C.UTF-8",
      wschat,
    ] + arguments, input: input)
}

private func chat(_ arguments: [String], input: String = "", user: String = "ada") throws -> Outcome
{
  let process = try start(arguments, input: input, user: user)
  guard case .exit(let code) = try process.wait() else { throw Unexpected("wschat was killed") }
  let errors = process.errors
  var output: [String] = []
  while let line = process.readLine() { output.append(line) }
  return Outcome(code: code, output: output, errors: errors)
}

@Suite struct `wschat in pipes` {
  @Test func `lines are sent in order, blank ones skipped, and all are acknowledged`() throws {
    let relay = try ScriptedRelay()
    let outcome = try chat([relay.url, "--room", "den"], input: "one\n\n  \ntwo\r\nthree")
    #expect(outcome.code == 0)
    #expect(outcome.errors == "")
    let texts = outcome.output.map { $0.dropFirst("HH:MM".count) }
    #expect(texts == ["  ada  one", "  ada  two", "  ada  three"])
    #expect(outcome.output.allSatisfy { $0.hasPrefix("14:46") })
    let sent = relay.seen().filter { $0.contains("\"send\", \"den\"") }
    #expect(sent.count == 3)
  }

  @Test func `with json and follow the ack, the own message, typing and the answer are shown`()
    throws
  {
    let relay = try ScriptedRelay(#"{"answer": true}"#)
    let process = try start([relay.url, "--to", "echo", "--follow", "--json"])
    process.write("hello\n")
    process.closeInput()
    var lines: [String] = []
    while let line = process.readLine() {
      lines.append(line)
      if line.contains("re: hello") { break }
    }
    #expect(lines.contains { $0.contains(#""type": "ack", "room": "dm:ada:echo""#) })
    #expect(lines.contains { $0.contains(#""from": "ada", "kind": "text", "text": "hello""#) })
    #expect(lines.contains { $0.contains(#""type": "typing", "room": "dm:ada:echo""#) })
    process.signal(SIGINT)
    #expect(try process.wait() == .exit(0))
    let seen = relay.seen()
    #expect(seen.contains(#"["read", "dm:ada:echo", 2]"#))
    #expect(seen.last == #"["closed", 1000]"#)
  }

  @Test func `raw line breaks inside a message do not break the line`() throws {
    let relay = try ScriptedRelay(
      #"{"raw": ["{\"type\":\"future\",\n\"data\":\r\n[1,\n2]}"]}"#)
    let outcome = try chat([relay.url, "--json"])
    #expect(outcome.code == 0)
    #expect(outcome.output.contains(#"{"type":"future", "data":  [1, 2]}"#))
  }

  @Test func `a history is unrolled into messages`() throws {
    let relay = try ScriptedRelay(
      #"""
      {"raw": ["{\"type\":\"history\",\"room\":\"general\",\"first\":1,\"head\":1,\"more\":false,\"entries\":[{\"type\":\"message\",\"room\":\"general\",\"seq\":1,\"id\":\"a\",\"from\":\"bo\",\"at\":5,\"kind\":\"data\",\"data\":{\n\"x\": 1}}]}"]}
      """#)
    let outcome = try chat([relay.url, "--json"])
    #expect(
      outcome.output.contains(
        #"{"type":"message","room":"general","seq":1,"id":"a","from":"bo","at":5,"kind":"data","data":{ "x": 1}}"#
      ))
  }

  @Test func `the last entries are printed first, and without input that is all`() throws {
    let relay = try ScriptedRelay(#"{"rooms": {"general": ["a", "b\u001b[2J", "c\nd", "e"]}}"#)
    let outcome = try chat([relay.url, "--history", "3"])
    #expect(outcome.code == 0)
    #expect(
      outcome.output.map { $0.dropFirst("HH:MM  ".count) } == ["bo  b[2J", "bo  c⏎d", "bo  e"])
    #expect(relay.seen().contains(#"["received", "general", 4]"#))
  }

  @Test func `history of an empty room ends immediately`() throws {
    let relay = try ScriptedRelay()
    let outcome = try chat([relay.url, "--history", "3"])
    #expect(outcome.code == 0)
    #expect(outcome.output.isEmpty)
  }

  @Test func `a refused line is reported with its number, the others are sent`() throws {
    let relay = try ScriptedRelay(#"{"refuse": ["bad"]}"#)
    let outcome = try chat([relay.url], input: "good\n\nbad\nbest\n")
    #expect(outcome.code == 1)
    #expect(outcome.errors == "wschat: line 3 was refused: the text is too long\n")
    #expect(outcome.output.map { $0.dropFirst("HH:MM  ".count) } == ["ada  good", "ada  best"])
  }

  @Test func `a line that is not UTF-8 or far too long is refused here`() throws {
    let relay = try ScriptedRelay()
    let process = try start([relay.url])
    process.write(String(repeating: "x", count: 1_100_000) + "\nok\n")
    process.write([0x61, 0xFF, 0x0A])
    process.closeInput()
    #expect(try process.wait() == .exit(1))
    #expect(
      process.errors == """
        wschat: line 1 was refused: it is longer than 1048576 bytes
        wschat: line 3 was refused: it is not valid UTF-8

        """)
  }

  @Test func `a file is sent as well as a pipe`() throws {
    let relay = try ScriptedRelay()
    let process = try ChildProcess(
      [
        "/bin/sh", "-c", #"seq 2000 >"$2.tmp"; "$0" "$1" --user ada <"$2.tmp"; rm "$2.tmp""#,
        wschat, relay.url, "/tmp/wschat-\(getpid())-\(relay.port)",
      ])
    process.closeInput()
    var count = 0
    while let line = process.readLine() {
      count += 1
      #expect(line.hasSuffix("  ada  \(count)"))
    }
    #expect(count == 2000)
  }

  @Test func `a line that is not acknowledged in time sets the exit code`() throws {
    let relay = try ScriptedRelay(#"{"ignore": ["two"]}"#)
    let outcome = try chat([relay.url, "--timeout", "0.3"], input: "one\ntwo\n")
    #expect(outcome.code == 1)
    #expect(outcome.errors.contains("1 line was not acknowledged, the first is line 2"))
  }

  @Test func `a line that is stored but never comes back is no failure, and is reported`() throws {
    let relay = try ScriptedRelay(#"{"hide": ["two"]}"#)
    let outcome = try chat([relay.url, "--timeout", "0.3"], input: "one\ntwo\n")
    #expect(outcome.code == 0)
    #expect(outcome.output.map { $0.dropFirst("HH:MM  ".count) } == ["ada  one"])
    #expect(
      outcome.errors
        == "wschat: every line is stored, but the relay has not sent the last ones back for 0.3 s\n"
    )
  }

  @Test func `people that are never listed do not keep it from ending`() throws {
    let relay = try ScriptedRelay()
    let outcome = try chat([relay.url, "--to", "bo", "--timeout", "0.3"], input: "one\n")
    #expect(outcome.code == 0)
    #expect(outcome.errors == "")
  }

  @Test func `no connection in time is exit code 5`() throws {
    let outcome = try chat(["ws://127.0.0.1:1/ws", "--timeout", "0.3"], input: "one\n")
    #expect(outcome.code == 5)
    #expect(outcome.errors.contains("Connection refused; retrying"))
  }

  @Test(arguments: [
    #"{"close": 4401, "reason": "bad\u001b[31m token"}"#, #"{"forbidden": "general"}"#,
    #"{"status": 401}"#,
  ])
  func `a refusal to admit the client is exit code 4`(faults: String) throws {
    let relay = try ScriptedRelay(faults)
    let outcome = try chat([relay.url], input: "one\n")
    #expect(outcome.code == 4)
    #expect(!outcome.errors.contains("\u{1B}"))
    #expect(outcome.errors.hasPrefix("wschat: "))
  }

  @Test(arguments: [
    ["--bogus"], ["--room", "a/b"], ["--room", "a", "--to", "b"], ["--user", "Ada"],
    ["--to", "ada"], ["--timeout", "0"], ["--timeout", "nan"], ["--history", "-1"],
    ["--ca", "a", "--insecure"], ["--token", "a b"], ["--token", "a", "--token-command", "b"],
  ])
  func `wrong usage is exit code 2 and a sentence`(arguments: [String]) throws {
    let outcome = try chat(arguments)
    #expect(outcome.code == 2)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.hasPrefix("Error: "))
  }

  @Test func `the user is USER in lower case, and has to be a valid name`() throws {
    let relay = try ScriptedRelay()
    #expect(try chat([relay.url], user: "Grace").code == 0)
    #expect(relay.seen().first == #"["open", "/ws?user=grace", null]"#)
    #expect(try chat([], user: "no name").code == 2)
  }

  @Test func `a token is read from a command`() throws {
    let relay = try ScriptedRelay()
    #expect(try chat([relay.url, "--token-command", "echo a.b.c; echo more"]).code == 0)
    #expect(relay.seen().first == #"["open", "/ws", "Bearer a.b.c"]"#)
    #expect(try chat([relay.url, "--token-command", "exit 3"]).code == 4)
  }

  @Test func `version and help go to standard output`() throws {
    let version = try chat(["--version"])
    #expect(version.code == 0)
    #expect(version.output == ["wschat 0.1.0"])
    let help = try chat(["--help"])
    #expect(help.code == 0)
    #expect(help.output.contains { $0.contains("--token-command") })
  }

  @Test func `it ends quietly when its reader has gone`() throws {
    let relay = try ScriptedRelay(#"{"rooms": {"general": ["a", "b"]}}"#)
    let process = try ChildProcess(
      [
        "/bin/sh", "-c", #"{ "$0" "$@"; echo "$?" >&2; } | head -n 1"#,
        wschat, relay.url, "--user", "ada", "--follow", "--history", "2",
      ])
    #expect(try process.wait() == .exit(0))
    #expect(process.output.hasSuffix("  a\n"))
    #expect(process.errors == "0\n")
  }

  @Test func `it reconnects after a break, and sends nothing twice`() throws {
    let relay = try ScriptedRelay(#"{"cut_after": ["2"], "cut_before": ["4"], "double": [3]}"#)
    let outcome = try chat([relay.url], input: "1\n2\n3\n4\n5\n")
    #expect(outcome.code == 0)
    #expect(outcome.output.map { $0.split(separator: " ").last } == ["1", "2", "3", "4", "5"])
  }
}
