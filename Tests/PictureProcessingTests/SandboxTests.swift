import Glibc
import TestSupport
import Testing

@Suite struct `The sandbox of relay-media` {
  private func probe(_ action: String) throws -> (ChildProcess.Outcome, String) {
    let process = try ChildProcess([Programs.path(of: "SandboxProbe"), action], input: "")
    return (try process.wait(), process.output + process.errors)
  }

  @Test func `lets a process write, take memory, and end`() throws {
    #expect(try probe("nothing") == (.exit(0), "survived"))
    #expect(try probe("memory") == (.exit(0), "survived"))
  }

  @Test(arguments: [
    "open", "remove", "connect", "start", "execute", "signal", "code", "become code",
  ])
  func `kills a process that does anything else`(action: String) throws {
    #expect(try probe(action) == (.signal(SIGSYS), ""))
  }

  @Test func `kills a process that computes for too long`() throws {
    #expect(try probe("compute") == (.signal(SIGKILL), ""))
  }

  @Test func `kills a process that writes too long a file`() throws {
    let folder = try TemporaryFolder()
    let process = try ChildProcess(
      [
        "sh", "-c", "exec \"$0\" write 3>\"$1\"", Programs.path(of: "SandboxProbe"),
        folder["output"],
      ], input: "")
    #expect(try process.wait() == .signal(SIGXFSZ))
    #expect(try readBytes(folder["output"]).count == 1 << 20)
  }

  @Test func `is entered before a byte of the file is read`() throws {
    let process = try ChildProcess([Programs.path(of: "relay-media"), "picture"])
    let status = "/proc/\(process.id)/status"
    // It waits for its input.
    #expect(try becomesTrue { try readFile(status).contains("\nSeccomp:\t2\n") })
    let text = try readFile(status)
    #expect(text.contains("\nNoNewPrivs:\t1\n"))
    let limits = try readFile("/proc/\(process.id)/limits").split(separator: "\n").map {
      $0.split(separator: " ").joined(separator: " ")
    }
    for limit in [
      "Max cpu time 5 5 seconds", "Max file size 33554432 33554432 bytes",
      "Max core file size 0 0 bytes", "Max open files 0 0 files",
      "Max address space 536870912 536870912 bytes",
    ] {
      #expect(limits.contains(limit), "\(limits)")
    }
    process.closeInput()
    #expect(try process.wait() == .exit(0))
    #expect(process.output == "\u{1}")
  }

  @Test func `relay-media is no command for people`() throws {
    let process = try ChildProcess([Programs.path(of: "relay-media"), "--help"], input: "")
    #expect(try process.wait() == .exit(1))
    #expect(process.errors.contains("is started by relay"))
  }
}
