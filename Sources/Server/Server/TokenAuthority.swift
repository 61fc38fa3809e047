import Directories
import Gateway
import Logging
import Platform
import Relay
internal import RelayConfiguration
import Synchronization
import Wire

/// Verifies tokens by the keys and rules that the operator has configured, of which all can change at
/// runtime. Shared by the loops.
///
/// Keys of `auth.jwks` come from its URL: at the start, every hour, at SIGHUP, and when a token names a
/// key that is not known: then the token waits for them. If they cannot be fetched, the last ones stay.
final class TokenAuthority: Sendable {
  private struct State {
    var settings: TokenSettings
    /// The keys of the URL; `nil` = never fetched.
    var fetched: JSONWebKeySet?
    var document: WebDocument?
    /// Whether the last fetch has brought the keys.
    var isCurrent = false
    var rule: TokenRule
    /// The last message about the URL, which is not repeated.
    var said = ""
    /// Tells the loops; `nil` until the start.
    var publish: (@Sendable (TokenRule) -> Void)?
  }

  private let state: Mutex<State>
  /// A lock of its own, so that no loop waits for a key to be parsed.
  private let verifier: Mutex<TokenVerifier>
  /// Asked for other keys when a token names one that is not known.
  private let source: Mutex<KeySource>
  private let logger: Logger
  /// How many tokens wait for keys.
  private let waiting = Mutex(0)
  /// The most of them, each of at most `TokenVerifier.tokenBytesLimit`: 8 MiB in all.
  static let waitingLimit = 1024

  /// Where further keys may come from.
  private struct KeySource {
    /// Whether there is such a place.
    var exists = false
    var document: WebDocument?
    /// As in `State`. If not, a key that is not known may be there.
    var isCurrent = false
  }

  /// Reads keys with blocking calls; fetches none before `start`.
  init(_ configuration: Configuration, logger: Logger) throws(ServerError) {
    let settings = try TokenSettings(configuration)
    self.logger = logger
    let verifier = TokenVerifier(settings, fetched: [])
    self.verifier = Mutex(verifier)
    source = Mutex(KeySource(exists: settings.url != nil))
    state = Mutex(State(settings: settings, rule: verifier.rule))
    report(settings, verifier)
  }

  // MARK: - Verifying

  /// Verifies a token, as `TokenVerifier` does; `nil` if its key may be one that has to be fetched.
  func verify(_ token: String, wall: Int64) throws(WireError) -> Identity? {
    let verifier = verifier.withLock { $0 }
    do throws(TokenVerifier.Refusal) {
      return try verifier.verify(token, wall: wall)
    } catch {
      guard error.isKeyUnknown, source.withLock(\.exists) else { throw error.error }
      return nil
    }
  }

  /// Verifies a token again, once the keys have been fetched if they may be; the loop gets
  /// `LoopMessage.verified`. Thread-safe; does not block.
  func verify(
    _ token: String, for asker: VerificationAsker, answering mailbox: Mailbox<LoopMessage>
  ) {
    guard let document = source.withLock(\.document) else {
      mailbox.post(.verified(.failure(Self.noKeys), asker))
      return
    }
    let mayWait = waiting.withLock { waiting in
      guard waiting < Self.waitingLimit else { return false }
      waiting += 1
      return true
    }
    guard mayWait else {
      mailbox.post(.verified(.failure(Self.tooManyWait), asker))
      return
    }
    document.ask { [self] reply in
      waiting.withLock { $0 -= 1 }
      mailbox.post(.verified(verify(token, after: reply), asker))
    }
  }

  private func verify(
    _ token: String, after reply: WebDocument.Reply
  ) -> Result<Identity, WireError> {
    let verifier = verifier.withLock { $0 }
    return Result { () throws(WireError) in
      do throws(TokenVerifier.Refusal) {
        return try verifier.verify(token, wall: WallClock.milliseconds)
      } catch {
        guard error.isKeyUnknown else { throw error.error }
        switch reply {
        case .fetched, .tooSoon:
          throw source.withLock(\.isCurrent) ? error.error : Self.noKeys
        case .late, .stopped: throw Self.noKeys
        }
      }
    }
  }

  private static let noKeys = unavailable(
    "The keys of the token's issuer (auth.jwks) could not be fetched yet; retry.")
  private static let tooManyWait = unavailable(
    "Too many clients wait for the keys of the token's issuer (auth.jwks); retry.")

  private static func unavailable(_ text: String) -> WireError {
    WireError(
      .unavailable, text, re: .auth, retryAfterMilliseconds: Refusal.retryAfterMilliseconds)
  }

  // MARK: - Changing

  /// Begins to fetch keys. Must be called once.
  /// - Parameter publish: called with each rule that replaces another one, on any thread, in order.
  func start(_ publish: @escaping @Sendable (TokenRule) -> Void) throws(SystemError) {
    let url = state.withLock { state in
      state.publish = publish
      return state.settings.url
    }
    if let url { try follow(url) }
  }

  /// Replaces keys and rules, and fetches those of the URL again; changes nothing if one cannot be used.
  /// Blocks while files are read.
  func reload(_ configuration: Configuration) throws(ServerError) {
    let settings = try TokenSettings(configuration)
    let old = state.withLock { state in
      let hasMoved = settings.url != state.settings.url
      let old = hasMoved ? state.document.take() : nil
      state.settings = settings
      // The keys of another URL stay until its own have come.
      if settings.url == nil { state.fetched = nil }
      if hasMoved { state.isCurrent = false }
      state.said = ""
      report(settings, apply(&state))
      if !hasMoved { state.document?.demand() }
      return (document: old, hasMoved: hasMoved)
    }
    // Not under the lock, which its consumer takes.
    old.document?.stop()
    guard old.hasMoved, let url = settings.url else { return }
    do throws(SystemError) {
      try follow(url)
    } catch {
      throw ServerError(
        "auth.jwks (\(Self.shown(url))) cannot be fetched: \(error).", .environment)
    }
  }

  /// Ends the fetches. Must not be called by `publish`.
  func stop() { state.withLock { $0.document.take() }?.stop() }

  private func follow(_ url: String) throws(SystemError) {
    var options = WebDocument.Options()
    options.userAgent = "relay/\(Server.version)"
    options.accept = "application/jwk-set+json, application/json"
    options.limitBytes = JSONWebKeySet.documentBytesLimit
    let document = try WebDocument(url, options: options)
    state.withLock { state in
      state.document = document
      source.withLock { $0.document = document }
    }
    do throws(SystemError) {
      try document.start { [weak self, weak document] outcome in
        guard let self, let document else { return false }
        return take(outcome, of: document)
      }
    } catch {
      document.stop()
      throw error
    }
  }

  /// - Returns: whether the keys can be used.
  private func take(
    _ outcome: Result<[UInt8], WebDocument.Failure>, of document: WebDocument
  ) -> Bool {
    let found: String
    do {
      let set = try JSONWebKeySet(try outcome.get(), allowsSecrets: false)
      state.withLock { state in
        guard state.document === document else { return }
        state.fetched = set
        state.isCurrent = true
        let before = state.rule
        let verifier = apply(&state)
        if state.rule != before { state.said = "" }
        let count = set.keys.count.counted("key")
        let text = Self.joined(
          ["\(count) from \(Self.shown(document.url))."] + set.notes + verifier.keys.notes)
        say(text, at: .info, &state)
      }
      return true
    } catch let error as WebDocument.Failure {
      found = "\(error.found)."
    } catch let error as JSONWebKeySet.Unusable {
      found = error.found
    } catch {
      found = "\(error)."
    }
    state.withLock { state in
      guard state.document === document else { return }
      state.isCurrent = false
      source.withLock { $0.isCurrent = false }
      let consequence =
        state.fetched == nil
        ? "Tokens by its keys are not accepted until it can be read."
        : "The keys that were read before stay."
      say("\(Self.shown(document.url)) \(found) \(consequence)", at: .warning, &state)
    }
    return false
  }

  /// Makes the state effective, for new tokens first, so that none that is no longer accepted gets in
  /// after the loops have been told.
  @discardableResult
  private func apply(_ state: inout State) -> TokenVerifier {
    let new = TokenVerifier(state.settings, fetched: state.fetched?.keys ?? [])
    verifier.withLock { $0 = new }
    source.withLock {
      $0 = KeySource(
        exists: state.settings.url != nil, document: state.document, isCurrent: state.isCurrent)
    }
    if new.rule != state.rule {
      state.rule = new.rule
      state.publish?(new.rule)
    }
    return new
  }

  // MARK: - Reporting

  private func report(_ settings: TokenSettings, _ verifier: TokenVerifier) {
    let notes = settings.notes + verifier.keys.notes
    if !notes.isEmpty { logger.warning("auth.jwks: \(Self.joined(notes))") }
  }

  private func say(_ text: String, at level: Logger.Level, _ state: inout State) {
    guard state.said != text else { return }
    state.said = text
    logger.log(level: level, "auth.jwks: \(text)")
  }

  /// A query may be a secret.
  private static func shown(_ url: String) -> Substring { url.prefix { $0 != "?" } }

  /// A provider decides how many there are.
  private static func joined(_ notes: [String]) -> String {
    let more = notes.count > 10 ? ["(\(notes.count - 10) more)"] : []
    return (notes.prefix(10) + more).joined(separator: " ")
  }
}
