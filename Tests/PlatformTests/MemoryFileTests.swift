import Glibc
import Testing

@testable import Platform

@Suite struct `A file in memory` {
  @Test func `has its content, from the beginning, for a child process`() throws {
    let file = try MemoryFile(Array("hello".utf8))
    let output = try ChildProgram.output(
      ofIsolated: ["/bin/cat"], input: file.descriptor, descriptors: [], limitBytes: 100,
      timeoutMilliseconds: 60_000)
    #expect(output == Array("hello".utf8))
    #expect(try file.read(limitBytes: 5) == Array("hello".utf8))
  }

  @Test func `has what a child process writes into it, up to a limit`() throws {
    let file = try MemoryFile()
    _ = try ChildProgram.output(
      ofIsolated: ["/bin/sh", "-c", "printf 12345 >&3"], input: file.descriptor,
      descriptors: [file.descriptor], limitBytes: 100, timeoutMilliseconds: 60_000)
    #expect(try file.read(limitBytes: 5) == Array("12345".utf8))
    #expect(throws: SystemError.self) { try file.read(limitBytes: 4) }
  }
}
