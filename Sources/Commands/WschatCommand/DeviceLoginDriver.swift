import Client
import EventLoop
import Glibc
import Platform
import TLS

/// Performs a device login: each request in a thread, while the dispatcher goes on.
final class DeviceLoginDriver {
  private typealias Result = (run: Int, answer: DeviceLogin.Answer)

  /// Called when the state of the login has changed; never after `end`.
  var changed: (DeviceLogin.State) -> Void = { _ in }
  private let request: RelayRequest
  private let results: Mailbox<Result>
  private let dispatcher: Dispatcher
  private var watch: Watch?
  private lazy var alarm = Alarm(on: dispatcher) { [unowned self] in go() }
  private var login: DeviceLogin?
  /// The number of the login, so that the answers of one that was given up are dropped.
  private var run = 0

  init(_ url: RelayURL, _ trust: TLSTrust, on dispatcher: Dispatcher) throws(SystemError) {
    request = RelayRequest(url: url, trust: trust)
    self.dispatcher = dispatcher
    results = try Mailbox()
    watch = try Watch(results.descriptor, on: dispatcher) { [unowned self] _ in takeResults() }
  }

  /// Begins a login, in place of one that is going on.
  func begin() {
    end()
    login = DeviceLogin(relay: request.url, device: "wschat on \(Self.hostName)")
    go()
  }

  /// Gives the login up.
  func end() {
    run += 1
    login = nil
    alarm.cancel()
  }

  private static var hostName: String {
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&name, name.count - 1) == 0 else { return "this machine" }
    return String(
      decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private func takeResults() {
    var news: [Result] = []
    results.drain(into: &news)
    for result in news where result.run == run {
      let before = login?.state
      login?.take(result.answer, at: Instant.now())
      go(since: before)
    }
  }

  private func go() { go(since: login?.state) }

  private func go(since before: DeviceLogin.State?) {
    let action = login?.next(at: Instant.now())
    switch action {
    case .send(let request): send(request)
    case .wait(let until): alarm.set(at: until)
    case .some(.none), nil: break
    }
    if let state = login?.state, state != before { changed(state) }
  }

  private func send(_ wanted: DeviceLogin.Request) {
    let (request, results, run) = (request, results, run)
    do {
      // Dropped at once: the thread ends by itself.
      _ = try WorkerThread(name: "login") { results.post((run, Self.perform(wanted, request))) }
    } catch {
      results.post((run, .none("\(error)")))
    }
  }

  private static func perform(
    _ wanted: DeviceLogin.Request, _ request: RelayRequest
  ) -> DeviceLogin.Answer {
    do throws(RelayRequest.Failure) {
      let answer =
        switch wanted {
        case .get(let resource):
          try request.send(
            "GET", resource, accepting: "application/json",
            limitBytes: DeviceLogin.answerLimitBytes)
        case .post(let resource, let body):
          try request.send(
            "POST", resource, body: .json(body), accepting: "application/json",
            limitBytes: DeviceLogin.answerLimitBytes)
        }
      return .http(status: answer.status, body: answer.body)
    } catch {
      return .none(error.advised)
    }
  }
}
