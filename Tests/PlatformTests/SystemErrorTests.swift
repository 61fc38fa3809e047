import Glibc
import Platform
import Testing

@Suite struct `System error` {
  @Test func `it prints what happened to what`() {
    let error = SystemError("bind 127.0.0.1:80", code: EACCES)
    #expect(error.description == "bind 127.0.0.1:80: Permission denied")
  }

  @Test func `the last error is the one that the failed call left`() {
    #expect(close(-1) == -1)
    #expect(SystemError.last("close") == SystemError("close", code: EBADF))
  }
}
