import Accounts
import Directories
import Platform
import Synchronization

/// Asks providers who has signed in, on threads of its own: a provider that is slow delays the sign-ins of
/// its own people, and no other request.
final class ProviderCaller: Sendable {
  typealias Outcome = Result<ProviderPerson, SignInFailure>

  private struct Job: Sendable {
    var exchange: any ProviderExchange
    var done: @Sendable (Outcome) -> Void
  }

  private static let threadCount = 4
  /// Beyond this number of sign-ins that wait, further ones fail.
  private static let jobsLimit = 200
  /// The requests of an exchange.
  private static let stepsLimit = 8
  /// Of one request: all of an exchange have to be over before the relay answers the browser.
  private static let timeoutMilliseconds = 7000
  private static let answerLimitBytes = 1 << 20

  private let origins: Set<String>
  /// One for each thread, which get jobs in turn.
  private let queues = (0..<threadCount).map { _ in WorkQueue<Job>() }
  private let started = Atomic(0)
  private let waiting = Atomic(0)
  private let threads = Mutex<[WorkerThread]>([])
  private let report: @Sendable (String) -> Void

  /// - Parameters:
  ///   - origins: those of the configured providers.
  ///   - report: called with what fails, for the operator.
  init(origins: Set<String>, report: @escaping @Sendable (String) -> Void) {
    self.origins = origins
    self.report = report
  }

  func start() throws(SystemError) {
    for (index, queue) in queues.enumerated() {
      let thread = try WorkerThread(name: "sign-in-\(index)") { self.work(queue) }
      threads.withLock { $0.append(thread) }
    }
  }

  func stop() {
    for queue in queues { queue.close() }
    for thread in threads.withLock({ $0 }) { thread.join() }
  }

  /// Carries an exchange out. Thread-safe; `done` is called on another thread, or at once if too many wait.
  func run(_ exchange: any ProviderExchange, done: @escaping @Sendable (Outcome) -> Void) {
    guard waiting.wrappingAdd(1, ordering: .relaxed).newValue <= Self.jobsLimit else {
      waiting.wrappingSubtract(1, ordering: .relaxed)
      return done(.failure(.tooMany))
    }
    let turn = started.wrappingAdd(1, ordering: .relaxed).oldValue
    queues[turn % queues.count].append(Job(exchange: exchange, done: done))
  }

  // MARK: - On a thread

  private func work(_ jobs: WorkQueue<Job>) {
    let caller: WebCaller
    do {
      caller = try WebCaller(
        origins: origins, userAgent: "relay/\(Server.version)",
        timeoutMilliseconds: Self.timeoutMilliseconds, limitBytes: Self.answerLimitBytes)
    } catch {
      report("signing in at providers does not work: \(error)")
      return
    }
    while let batch = jobs.takeAll() {
      for job in batch {
        job.done(outcome(of: job.exchange, caller))
        waiting.wrappingSubtract(1, ordering: .relaxed)
      }
    }
  }

  private func outcome(of exchange: any ProviderExchange, _ caller: WebCaller) -> Outcome {
    var exchange = exchange
    var answer: ProviderAnswer?
    for _ in 0..<Self.stepsLimit {
      switch exchange.next(answer) {
      case .person(let person): return .success(person)
      case .failed(let failure):
        report("a sign-in failed: \(failure.rawValue)\(Self.described(answer))")
        return .failure(failure)
      case .request(let request):
        do throws(WebCaller.Failure) {
          let found = try caller.perform(
            request.url, headers: request.headers, form: request.form)
          answer = ProviderAnswer(status: found.status, body: found.body)
        } catch {
          report("a provider cannot be reached at \(request.url): \(error.description)")
          return .failure(.providerUnavailable)
        }
      }
    }
    return .failure(.providerRefused)
  }

  private static func described(_ answer: ProviderAnswer?) -> String {
    answer.map { "; the provider answered with status \($0.status)" } ?? ""
  }
}
