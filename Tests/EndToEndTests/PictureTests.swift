import TestSupport
import Testing

extension `End to end` {
  @Suite struct `Pictures of a screen` {
    @Test func `a screen of tmux becomes cells, and the cells a picture`() throws {
      let check = try ChildProcess(
        ["/usr/bin/python3", "-B", Project["Tests/Screens/check.py"]], input: "")
      #expect(try check.wait() == .exit(0), "\(check.errors)")
      #expect(check.errors.hasSuffix("OK\n"), "\(check.errors)")
    }
  }
}
