import Glibc
import Platform
import TestSupport
import Testing

@Suite struct `A service manager` {
  private func read(_ environment: [String: String]) -> ServiceManager {
    ServiceManager(environment: environment, process: 17)
  }

  @Test func `without its variables there is none`() {
    let manager = read([:])
    #expect(manager.sockets.isEmpty)
    #expect(manager.watchdogMilliseconds == nil)
    // Goes nowhere.
    manager.tell("READY=1")
  }

  @Test func `sockets and a watchdog count that are meant for this process`() {
    #expect(read(["LISTEN_FDS": "2", "LISTEN_PID": "17"]).sockets == 3..<5)
    #expect(read(["LISTEN_FDS": "2", "LISTEN_PID": "16"]).sockets.isEmpty)
    #expect(read(["LISTEN_FDS": "2"]).sockets.isEmpty)
    #expect(read(["WATCHDOG_USEC": "30000000"]).watchdogMilliseconds == 30_000)
    #expect(
      read(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "17"]).watchdogMilliseconds == 30_000)
    #expect(read(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"]).watchdogMilliseconds == nil)
  }

  @Test(arguments: ["", "x", "-1", "0", "99999999999999999999", "1 2"])
  func `a number that is none counts as none`(text: String) {
    #expect(read(["LISTEN_FDS": text, "LISTEN_PID": "17"]).sockets.isEmpty)
    #expect(read(["WATCHDOG_USEC": text]).watchdogMilliseconds == nil)
  }

  @Test(arguments: ["", "notify", "/nonexistent/notify", String(repeating: "/long", count: 30)])
  func `a socket that cannot be reached is no obstacle`(path: String) {
    read(["NOTIFY_SOCKET": path]).tell("READY=1")
  }
}
