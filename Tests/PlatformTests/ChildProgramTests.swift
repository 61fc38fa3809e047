import Glibc
import Platform
import TestSupport
import Testing

@Suite struct `Child programs` {
  private func output(
    of command: String, limitBytes: Int = 1 << 20, timeoutMilliseconds: Int = -1, stop: Int32 = -1
  ) throws(ChildProgram.Failure) -> String {
    String(
      decoding: try ChildProgram.output(
        of: ["sh", "-c", command], limitBytes: limitBytes,
        timeoutMilliseconds: timeoutMilliseconds, stop: stop, leadsGroup: true), as: UTF8.self)
  }

  @Test func `the output is what the program prints to its end`() throws {
    #expect(try output(of: "echo a; exec 1>&-; sleep 0.01") == "a\n")
    #expect(try output(of: "head -c 200000 /dev/zero").utf8.count == 200_000)
  }

  @Test func `standard input is empty`() throws {
    #expect(try output(of: "cat") == "")
  }

  @Test func `a program that the program leaves behind is not waited for`() throws {
    #expect(try output(of: "sleep 60 & echo a") == "a\n")
  }

  @Test func `a program that fails has no output`() {
    #expect(throws: ChildProgram.Failure.ended(.exit(3))) { try output(of: "echo a; exit 3") }
    #expect(throws: ChildProgram.Failure.ended(.signal(SIGKILL))) {
      try output(of: "kill -9 $$")
    }
  }

  @Test func `more output than the limit ends the program`() {
    #expect(throws: ChildProgram.Failure.outputTooLong) {
      try output(of: "yes", limitBytes: 1000)
    }
  }

  @Test func `the program has a time limit`() {
    #expect(throws: ChildProgram.Failure.tookTooLong) {
      try output(of: "sleep 60 & sleep 60", timeoutMilliseconds: 50)
    }
  }

  @Test func `a program with a session of its own has no terminal, and ends with all of it`() throws
  {
    func output(_ command: String, _ milliseconds: Int = 60_000) throws -> String {
      String(
        decoding: try ChildProgram.output(
          of: ["sh", "-c", command], limitBytes: 100, timeoutMilliseconds: milliseconds,
          leadsSession: true), as: UTF8.self)
    }
    // The sixth field is the session, the seventh the terminal (proc(5)).
    #expect(try output("set -- $(cat /proc/$$/stat); [ $6 = $$ ] && echo $7") == "0\n")
    #expect(try output("(echo in vain </dev/tty) || echo none") == "none\n")
    let child = try #require(Int32(try output("sleep 60 >/dev/null & echo $!").dropLast()))
    #expect(
      becomesTrue {
        kill(child, 0) != 0 || (try? readFile("/proc/\(child)/stat"))?.contains(") Z") == true
      })
    #expect(throws: ChildProgram.Failure.tookTooLong) { try output("sleep 60", 50) }
  }

  @Test func `a descriptor stops the program`() throws {
    let stop = try EventDescriptor()
    stop.signal()
    #expect(throws: ChildProgram.Failure.stopped) {
      try output(of: "sleep 60", stop: stop.descriptor)
    }
  }

  @Test func `how a program has ended is known only once it has`() throws {
    let (reader, writer) = try ChildProgram.pipe()
    defer { close(reader) }
    let id = try ChildProgram.start(
      ["sh", "-c", "read -r line; exit 7"], input: .descriptor(reader))
    #expect(ChildProgram.outcome(of: id) == nil)
    close(writer)
    var outcome: ChildProgram.Outcome?
    #expect(
      becomesTrue {
        outcome = ChildProgram.outcome(of: id)
        return outcome != nil
      })
    #expect(outcome == .exit(7))
  }

  @Test func `a program that does not exist is not started`() {
    #expect(throws: ChildProgram.Failure.notStarted(SystemError("start /no/such", code: ENOENT))) {
      try ChildProgram.output(of: ["/no/such"], limitBytes: 1)
    }
  }

  @Test func `given variables replace inherited ones`() throws {
    let folder = try TemporaryFolder()
    let id = try ChildProgram.start(
      ["sh", "-c", "echo \"$HOME\" \"$PATH\""], environment: ["HOME=here"],
      output: .appending(folder["out"]))
    #expect(ChildProgram.wait(for: id) == .exit(0))
    #expect(try folder.read("out").hasPrefix("here /"))
  }
}
