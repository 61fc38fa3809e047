import Accounts
import Directories
import Platform
import Synchronization
import WebSocket

/// Asks providers who has signed in, and who still may, on threads of its own: a provider that is slow delays the
/// sign-ins of its own people, and no other request.
final class ProviderCaller: Sendable {
  typealias Outcome = Result<ProviderOutcome, Failure>

  struct Failure: Error {
    var code: SignInFailure
    /// What went wrong, for the operator; empty if it is nothing to tell.
    var explanation = ""
  }

  private struct Job: Sendable {
    var exchange: any ProviderExchange
    var first: ProviderRequest
    /// After it no request is begun.
    var deadline: ContinuousClock.Instant
    var done: @Sendable (Outcome) -> Void
  }

  private struct Kept {
    var answer: ProviderAnswer
    var at: ContinuousClock.Instant
    /// That of the request which it answered.
    var maxAgeSeconds: Int
  }

  private static let threadCount = 4
  /// The place of the thread that asks what can wait.
  private static let background = threadCount
  /// Beyond this number of sign-ins that wait, further ones fail.
  private static let jobsLimit = 200
  /// The requests of an exchange.
  private static let stepsLimit = 8
  /// Of one request, and of all of an exchange with the wait for a thread: together they are over before the relay
  /// answers the browser in their place (`HTTPExchange.answerMilliseconds`).
  private static let timeoutMilliseconds = 7000
  private static let jobSeconds = 20
  private static let answerLimitBytes = 1 << 20

  /// The answers that are kept for requests with `maxAgeSeconds`.
  private static let keptLimit = 8

  private let origins: Set<String>
  private let kept = Mutex<[String: Kept]>([:])
  /// One for each thread; all but the last get jobs in turn.
  private let queues = (0...threadCount).map { _ in WorkQueue<Job>() }
  private let started = Atomic(0)
  private let waiting = Atomic(0)
  private let threads = Mutex<[WorkerThread]>([])
  private let report: @Sendable (String) -> Void

  /// - Parameters:
  ///   - origins: those of the configured providers.
  ///   - report: called if the threads cannot work, for the operator.
  init(origins: Set<String>, report: @escaping @Sendable (String) -> Void) {
    self.origins = origins
    self.report = report
  }

  func start() throws(SystemError) {
    for (index, queue) in queues.enumerated() {
      let thread = try WorkerThread(name: "sign-in-\(index)") {
        self.work(queue, isLimited: index != Self.background)
      }
      threads.withLock { $0.append(thread) }
    }
  }

  func stop() {
    for queue in queues { queue.close() }
    for thread in threads.withLock({ $0 }) { thread.join() }
  }

  /// Carries an exchange out. Thread-safe; `done` is called on another thread, or at once if there is
  /// nothing to ask for, or too many wait.
  /// - Parameter inBackground: whether it must not delay a sign-in; such exchanges are not limited.
  func run(
    _ exchange: any ProviderExchange, inBackground: Bool = false,
    done: @escaping @Sendable (Outcome) -> Void
  ) {
    var exchange = exchange
    let first: ProviderRequest
    switch exchange.next(nil) {
    case .request(let request): first = request
    case .finished(let outcome): return done(.success(outcome))
    case .failed(let code, let reason):
      return done(.failure(Failure(code: code, explanation: reason)))
    }
    let job = Job(
      exchange: exchange, first: first, deadline: .now + .seconds(Self.jobSeconds), done: done)
    if inBackground {
      queues[Self.background].append(job)
      return
    }
    guard waiting.wrappingAdd(1, ordering: .relaxed).newValue <= Self.jobsLimit else {
      waiting.wrappingSubtract(1, ordering: .relaxed)
      return done(.failure(Failure(code: .tooMany)))
    }
    let turn = started.wrappingAdd(1, ordering: .relaxed).oldValue
    queues[turn % Self.threadCount].append(job)
  }

  // MARK: - On a thread

  private func work(_ jobs: WorkQueue<Job>, isLimited: Bool) {
    let caller: WebCaller
    do {
      caller = try WebCaller(
        origins: origins, userAgent: "relay/\(Server.version)",
        timeoutMilliseconds: Self.timeoutMilliseconds, limitBytes: Self.answerLimitBytes)
    } catch {
      report("Signing in at providers does not work: \(error). Restart the relay.")
      return
    }
    while let batch = jobs.takeAll() {
      for job in batch {
        job.done(outcome(of: job, caller))
        if isLimited { waiting.wrappingSubtract(1, ordering: .relaxed) }
      }
    }
  }

  private func outcome(of job: Job, _ caller: WebCaller) -> Outcome {
    var exchange = job.exchange
    var request = job.first
    for _ in 0..<Self.stepsLimit {
      guard ContinuousClock.now < job.deadline else {
        return .failure(
          Failure(
            code: .providerUnavailable,
            explanation: "a provider takes too long; \(request.url) was not asked in time"))
      }
      let answer: ProviderAnswer
      do throws(WebCaller.Failure) {
        answer = try self.answer(to: request, caller)
      } catch {
        return .failure(
          Failure(
            code: .providerUnavailable,
            explanation: "a provider cannot be reached at \(request.url): \(error.description)"))
      }
      switch exchange.next(answer) {
      case .finished(let outcome): return .success(outcome)
      case .failed(let code, let reason):
        let why = reason.isEmpty ? "" : "\(reason); "
        return .failure(
          Failure(
            code: code,
            explanation: "\(why)\(request.url) answered with status \(answer.status)"))
      case .request(let next): request = next
      }
    }
    return .failure(
      Failure(code: .providerRefused, explanation: "a provider has to be asked without end"))
  }

  private func answer(
    to request: ProviderRequest, _ caller: WebCaller
  ) throws(WebCaller.Failure) -> ProviderAnswer {
    let now = ContinuousClock.now
    if let maxAge = request.maxAgeSeconds, let kept = kept.withLock({ $0[request.url] }),
      kept.maxAgeSeconds <= maxAge, now - kept.at < .seconds(maxAge)
    {
      return kept.answer
    }
    var headers = request.headers
    if let basic = request.basic {
      headers.append("Authorization: Basic \(Base64.encode(Array(basic.utf8)))")
    }
    let found = try caller.perform(request.url, headers: headers, content: request.content)
    let answer = ProviderAnswer(status: found.status, body: found.body)
    if let maxAge = request.maxAgeSeconds, answer.status == 200 {
      kept.withLock { kept in
        // The addresses are those of one provider, which names a few of them in the course of time.
        if kept.count >= Self.keptLimit { kept = [:] }
        kept[request.url] = Kept(answer: answer, at: now, maxAgeSeconds: maxAge)
      }
    }
    return answer
  }
}
