import AccountStores
import Accounts
import Gateway
import Platform
import Relay
import Synchronization
import Wire

/// Keeps the accounts of a relay: a thread answers the loops' questions, one after the other, and follows
/// what other processes change in the same store.
final class AccountKeeper: Sendable {
  private enum Task: Sendable {
    case verify(String, HostKey?, VerificationAsker, loop: Int)
    case ask(AccountCall, ExchangeID, loop: Int)
    case use(session: String, address: String?)
    case complete(
      AccountService.PendingSignIn, ProviderCaller.Outcome, ExchangeID, loop: Int)
    case confirm(AccountService.PendingConfirmation, ProviderCaller.Outcome)
  }

  /// How often changes of other processes are looked for. A session that was ended elsewhere is out within
  /// a second.
  private static let followMilliseconds = 250
  private static let tidyMilliseconds: Int64 = 60_000
  /// For so long nothing may fail before the store is said to work again.
  private static let recoveryMilliseconds: Int64 = 60_000
  /// How many changes are read at once, and how many uses of sessions are recorded.
  private static let sliceLimit = 512

  private let cache = SessionCache()
  private let tasks = WorkQueue<Task>()
  private let service: Handover<AccountService>
  private let hash: @Sendable ([UInt8]) -> SecretHash
  private let thread = Mutex<WorkerThread?>(nil)
  private let providers: ProviderCaller
  /// Called on the accounts' thread for each account that is new or has changed.
  private let changed: @Sendable (Account) -> Void
  /// Called with what concerns one person, for the operator.
  private let warn: @Sendable (String) -> Void
  /// Clients cause the warnings.
  private let quota = LineQuota()

  init(
    _ service: sending AccountService, providers: ProviderCaller,
    hash: @escaping @Sendable ([UInt8]) -> SecretHash,
    changed: @escaping @Sendable (Account) -> Void, warn: @escaping @Sendable (String) -> Void
  ) {
    self.service = Handover(service)
    self.providers = providers
    self.hash = hash
    self.changed = changed
    self.warn = warn
  }

  /// Verifies a token that is known already; `nil` if it has to be looked up. Thread-safe.
  func verify(_ token: String, _ wall: Int64, _ host: HostKey?) throws(WireError) -> Identity? {
    // Any other token would be looked up for nothing.
    guard token.utf8.count == Self.tokenBytes else { throw .signedOut }
    guard let (session, isUse) = cache.find(hash(Array(token.utf8)), now: wall) else { return nil }
    if isUse { tasks.append(.use(session: session.session, address: host?.description)) }
    return try session.identity()
  }

  /// 256 bits as base64url.
  private static let tokenBytes = 43

  /// Looks a token up; the loop gets `LoopMessage.verified`. Thread-safe.
  func verify(_ token: String, from host: HostKey?, for asker: VerificationAsker, loop: Int) {
    tasks.append(.verify(token, host, asker, loop: loop))
  }

  /// Records that devices are in use. Thread-safe.
  func use(_ devices: [String]) {
    for device in devices { tasks.append(.use(session: device, address: nil)) }
  }

  /// Answers a request; the loop gets `LoopMessage.account`. Thread-safe.
  func ask(_ call: AccountCall, for exchange: ExchangeID, loop: Int) {
    tasks.append(.ask(call, exchange, loop: loop))
  }

  /// Starts the thread.
  /// - Parameter report: called with messages for the operator.
  func start(
    _ mailboxes: [Mailbox<LoopMessage>], report: @escaping @Sendable (String) -> Void
  ) throws(SystemError) {
    try providers.start()
    let made = try WorkerThread(name: "accounts") { [service] in
      guard let service = service.take() else { return }
      self.run(service, mailboxes, report)
    }
    thread.withLock { $0 = made }
  }

  /// Answers what was asked, and ends the thread.
  func stop() {
    providers.stop()
    tasks.close()
    thread.withLock { thread in
      thread?.join()
      thread = nil
    }
  }

  // MARK: - On the thread

  private func run(
    _ service: AccountService, _ mailboxes: [Mailbox<LoopMessage>],
    _ report: @escaping @Sendable (String) -> Void
  ) {
    var outage = Outage(
      "The store of accounts", path: "accounts", check: "the store",
      meanwhile: "People who are connected stay so, and others are told to retry", report: report)
    var confirmations = Confirmations(report)
    var uses: [String: String?] = [:]
    var last: Int64?
    var tidiedAt: Int64 = 0
    var failures = 0
    var failedAt: Int64 = 0
    while let batch = tasks.takeAll(timeoutMilliseconds: Self.followMilliseconds) {
      let now = WallClock.milliseconds
      for task in batch {
        do throws(AccountError) {
          switch task {
          case .verify(let token, let host, let asker, let loop):
            let result = look(token, host, service, now, &outage)
            mailboxes[loop].post(.verified(result, asker))
          case .ask(let call, let exchange, let loop):
            guard let answer = answer(call, exchange, loop, service, now, &outage) else { continue }
            // The loops end connections before the one who asked is told that they have ended.
            defer { mailboxes[loop].post(.account(answer, exchange)) }
            last = try follow(last, service, mailboxes)
          case .use(let session, let address): uses[session] = address
          case .complete(let pending, let outcome, let exchange, let loop):
            let answer = answer(pending, outcome, service, now, &outage)
            defer { mailboxes[loop].post(.account(answer, exchange)) }
            last = try follow(last, service, mailboxes)
          case .confirm(let pending, let outcome):
            confirmations.take(outcome, now)
            let result = outcome.mapError(\.code)
            if let end = try service.complete(pending, result, now: now) { warn(end) }
          }
        } catch {
          outage.update(StoreFailure(error.explanation))
        }
      }
      do throws(AccountError) {
        last = try follow(last, service, mailboxes)
        try record(&uses, service, now)
        if confirmations.isDue(now), let pending = try service.nextConfirmation(now: now) {
          confirmations.isUnderWay = true
          providers.run(pending.exchange, inBackground: true) { [tasks] outcome in
            tasks.append(.confirm(pending, outcome))
          }
        }
        if now - tidiedAt >= Self.tidyMilliseconds || now < tidiedAt {
          tidiedAt = now
          try service.tidy(now: now)
        }
      } catch {
        outage.update(StoreFailure(error.explanation))
      }
      if outage.failures != failures {
        (failures, failedAt) = (outage.failures, now)
      } else if !(0..<Self.recoveryMilliseconds).contains(now - failedAt) {
        // Reads say nothing of a disk that is full.
        outage.update(nil)
      }
    }
  }

  private func look(
    _ token: String, _ host: HostKey?, _ service: AccountService, _ now: Int64,
    _ outage: inout Outage
  ) -> Result<Identity, WireError> {
    let found: VerifiedSession?
    do throws(AccountError) {
      found = try service.verify(token, now: now)
    } catch {
      outage.update(StoreFailure(error.explanation))
      return .failure(
        WireError(
          .unavailable, "Sessions cannot be looked up now; try again.", re: .auth,
          retryAfterMilliseconds: Refusal.retryAfterMilliseconds))
    }
    return Result { () throws(WireError) in
      guard let found else { throw .signedOut }
      let hash = hash(Array(token.utf8))
      cache.insert(found, for: hash)
      if cache.find(hash, now: now)?.isUse == true {
        tasks.append(.use(session: found.session, address: host?.description))
      }
      return try found.identity()
    }
  }

  /// Returns the answer to a request; `nil` if a provider has to be asked first.
  private func answer(
    _ call: AccountCall, _ exchange: ExchangeID, _ loop: Int, _ service: AccountService,
    _ now: Int64, _ outage: inout Outage
  ) -> AccountAnswer? {
    do throws(AccountError) {
      let begun: Result<AccountService.PendingSignIn, SignInFailure>
      switch call.request {
      case .beginSignIn(let method, let path):
        begun = try service.beginSignIn(method, path, call, now: now)
      case .finishSignIn(let method, let back):
        begun = try service.finishSignIn(method, back, call, now: now)
      default: return try service.answer(call, now: now)
      }
      switch begun {
      case .failure(let failure): return service.failed(failure)
      case .success(let pending):
        providers.run(pending.exchange) { [tasks] outcome in
          tasks.append(.complete(pending, outcome, exchange, loop: loop))
        }
        return nil
      }
    } catch {
      if case .refused(let problem) = error { return .problem(problem) }
      outage.update(StoreFailure(error.explanation))
      return call.request.isOfBrowser
        ? service.failed(.providerUnavailable) : .problem(.unavailable)
    }
  }

  private func answer(
    _ pending: AccountService.PendingSignIn, _ outcome: ProviderCaller.Outcome,
    _ service: AccountService, _ now: Int64, _ outage: inout Outage
  ) -> AccountAnswer {
    switch outcome {
    case .failure(let failure):
      for omitted in quota.takeOmitted(now: now) {
        warn("\(omitted.count) more sign-ins have failed, and were left out.")
      }
      if !failure.explanation.isEmpty, quota.admits(.refusal, now: now) {
        warn("A sign-in failed (\(failure.code.rawValue)): \(failure.explanation)")
      }
      return service.failed(failure.code)
    case .success(let found):
      do throws(AccountError) {
        return try service.complete(pending, found, now: now)
      } catch {
        outage.update(StoreFailure(error.explanation))
        return service.failed(.providerUnavailable)
      }
    }
  }

  /// Applies the changes since one, of this process and of others.
  /// - Returns: the last one.
  private func follow(
    _ last: Int64?, _ service: AccountService, _ mailboxes: [Mailbox<LoopMessage>]
  ) throws(AccountError) -> Int64 {
    guard var last else {
      // What changes meanwhile is read again.
      let last = try service.lastChange()
      try service.forEachAccount { account throws(AccountError) in changed(account) }
      return last
    }
    while true {
      let changes = try service.changes(after: last, limit: Self.sliceLimit)
      for change in changes {
        var ending: DeviceEnding?
        cache.remove(user: change.user)
        switch change.kind {
        case .ended(let session):
          ending = DeviceEnding(device: session, user: change.user, reason: .signedOut)
        case .account:
          guard let account = try service.account(change.user) else { break }
          changed(account)
          if account.isDisabled {
            ending = DeviceEnding(device: nil, user: change.user, reason: .disabled(change.user))
          }
        }
        if let ending { for mailbox in mailboxes { mailbox.post(.deviceEnded(ending)) } }
        last = change.number
      }
      if changes.count < Self.sliceLimit { return last }
    }
  }

  private func record(
    _ uses: inout [String: String?], _ service: AccountService, _ now: Int64
  ) throws(AccountError) {
    let slice = uses.prefix(Self.sliceLimit)
    if slice.isEmpty { return }
    try service.recordUses(slice.map { ($0.key, $0.value) }, now: now)
    for (session, _) in slice { uses[session] = nil }
  }
}

/// When providers are asked whether people may still sign in: one question after the other.
private struct Confirmations {
  var isUnderWay = false
  private var nextAt: Int64 = 0
  private var outage: Outage

  /// The pause between two questions, and after one without an answer: providers limit how many they answer,
  /// GitHub 5000 an hour.
  private static let pauseMilliseconds: Int64 = 1000
  private static let failurePauseMilliseconds: Int64 = 10_000

  init(_ report: @escaping @Sendable (String) -> Void) {
    outage = Outage(
      "Asking a provider whether people may still sign in", path: "the provider", check: "it",
      meanwhile: "Sessions that are not confirmed for three days end", report: report)
  }

  /// Whether the next question may be asked, if there is one.
  mutating func isDue(_ now: Int64) -> Bool {
    // The clock may have been set back.
    guard !isUnderWay, now >= nextAt || nextAt - now > Self.failurePauseMilliseconds else {
      return false
    }
    nextAt = now + Self.pauseMilliseconds
    return true
  }

  mutating func take(_ outcome: ProviderCaller.Outcome, _ now: Int64) {
    isUnderWay = false
    switch outcome {
    case .success: outage.update(nil)
    case .failure(let failure):
      outage.update(StoreFailure(failure.explanation))
      nextAt = now + Self.failurePauseMilliseconds
    }
  }
}
