import AccountStores
import Accounts
import PostgresLog
import Synchronization
import TestSupport
import Wire

/// A kind of store that accounts are kept in.
enum AccountPlace: CaseIterable, Sendable {
  case memory, file, postgresql
}

/// Accounts with a clock and a random source of the test's own.
final class AccountHarness {
  let service: AccountService
  let store: SQLAccountStore
  private let folder: TemporaryFolder
  /// Milliseconds since 1970.
  var now: Int64 = 1_790_000_000_000
  private let open: () throws -> SQLAccountStore
  /// `auth.operators` and `auth.banned`.
  let configured = Configured()

  final class Configured: Sendable {
    private let names = Mutex<(operators: Set<String>, banned: Set<String>)>(([], []))

    func withLock<Result: Sendable>(
      _ body: (inout sending (operators: Set<String>, banned: Set<String>)) -> sending Result
    ) -> sending Result {
      names.withLock(body)
    }
  }

  init(
    _ place: AccountPlace = .memory, known: Set<String> = [], writtenTo: Set<String> = [],
    reserved: Set<String> = [], directory: [ProviderBinding: String] = [:],
    _ configure: (inout AccountSettings) -> Void = { _ in }
  ) throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    switch place {
    case .memory: open = { try .sqlite(path: nil) }
    case .file: open = { try .sqlite(path: folder["accounts.db"]) }
    case .postgresql:
      let server = try PostgresServer.shared.get()
      var options = PostgresLog.Options()
      options.schema = server.newSchema()
      options.requiresSync = false
      _ = try Maintenance.migrate(url: server.url, options: options)
      open = { [options] in try .postgresql(url: server.url, options: options) }
    }
    store = try open()
    var settings = AccountSettings(publicURL: "https://chat.example.org")
    settings.bots = ["echo"]
    settings.signInsPerMinute = 0
    configure(&settings)
    let counter = Mutex(UInt64(0))
    let environment = AccountEnvironment(
      hash: Self.hash,
      random: { count in
        counter.withLock { counter in
          (0..<count).map { _ in
            counter = counter &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(counter >> 56)
          }
        }
      },
      qrCode: { ["\($0.utf8.count)"] },
      isReserved: { reserved.contains($0) || directory.values.contains($0) },
      isOperator: { [configured] user in configured.withLock { $0.operators.contains(user) } },
      isBanned: { [configured] user, _ in configured.withLock { $0.banned.contains(user) } },
      directoryName: { directory[$0].flatMap { reserved.contains($0) ? nil : $0 } },
      isKnown: { known.contains($0) || writtenTo.contains($0) },
      hasTakenPart: { known.contains($0) })
    service = AccountService(settings, environment, store: store)
  }

  /// What the files of the store hold.
  func files() throws -> [String] {
    try folder.names.map { String(decoding: try readBytes(folder[$0]), as: UTF8.self) }
  }

  /// Opens the store again, as another process would.
  func another() throws -> SQLAccountStore { try open() }

  private static func hash(_ bytes: [UInt8]) -> SecretHash {
    let padded = bytes + [UInt8](repeating: 0, count: max(0, 32 - bytes.count))
    guard let hash = SecretHash(Array(padded.suffix(32).reversed())) else { preconditionFailure() }
    return hash
  }

  // MARK: - Requests

  /// The answer to a request: its status, and its JSON or the code of the problem.
  struct Answer: Equatable {
    var status: Int
    var text: String
    var cookie: AccountAnswer.Cookie?

    subscript(name: StaticString) -> String? { JSONNode(Array(text.utf8))?[name]?.string }
  }

  func ask(
    _ request: AccountCall.Request, _ json: String = "", as user: String? = nil,
    session: String? = nil, isOperator: Bool = false, from address: String = "192.0.2.1"
  ) throws -> Answer {
    let caller = user.map {
      AccountCall.Caller(user: $0, session: session, isOperator: isOperator)
    }
    let answer = try self.answer(
      AccountCall(request, caller: caller, content: Array(json.utf8), address: address))
    let text =
      switch answer.content {
      case .nothing: ""
      case .json(let json): String(decoding: json, as: UTF8.self)
      case .problem(let problem): problem.code.rawValue
      case .redirect(let location): location
      }
    return Answer(status: answer.status, text: text, cookie: answer.cookie)
  }

  private func answer(_ call: AccountCall) throws -> AccountAnswer {
    guard case .beginSignIn(let method, let path) = call.request else {
      return try service.answer(call, now: now)
    }
    do {
      switch try service.beginSignIn(method, path, call, now: now) {
      case .failure(let failure): return service.failed(failure)
      case .success(var pending):
        guard case .finished(let outcome) = pending.exchange.next(nil) else {
          throw Unexpected("the provider has to be asked")
        }
        return try service.complete(pending, outcome, now: now)
      }
    } catch AccountError.refused(let problem) {
      return .problem(problem)
    }
  }

  /// Signs a person in at GitHub, and returns the user; the address of the page if that fails.
  func signIn(as person: ProviderPerson, to path: String = "/") throws -> String {
    let begun = try ask(.beginSignIn(method: "github", returnPath: path))
    guard case .attempt(let secret)? = begun.cookie,
      let state = begun.text.split(separator: "&").first(where: { $0.hasPrefix("state=") })
    else { throw Unexpected("\(begun)") }
    let back = AccountCall.ProviderReturn(
      state: String(state.dropFirst("state=".count)), code: "c0de", error: nil, issuer: nil)
    let call = AccountCall(
      .finishSignIn(method: "github", back), caller: nil, address: "192.0.2.1",
      browserSecret: secret, userAgent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0")
    let pending = try service.finishSignIn("github", back, call, now: now).get()
    let answer = try service.complete(pending, .person(person), now: now)
    guard case .redirect(let location) = answer.content else { throw Unexpected("\(answer)") }
    guard case .attemptEnded(let token?)? = answer.cookie else { return location }
    guard let session = try service.verify(token, now: now) else { throw Unexpected("\(answer)") }
    return session.account.user
  }

  func firstCode() throws -> String? {
    try service.makeFirstLink(now: now).map { String($0.split(separator: "/").last ?? "") }
  }

  /// Makes the first operator.
  @discardableResult
  func signUp(_ user: String = "ada") throws -> Answer {
    guard let code = try firstCode() else { throw Unexpected("there is an account already") }
    return try ask(.openInvitation(code: code), #"{"user":"\#(user)"}"#)
  }

  /// Invites by an operator, and returns the code.
  func invite(_ json: String = "{}", as user: String = "ada") throws -> String {
    let answer = try ask(.invite, json, as: user, isOperator: true)
    guard let code = answer["code"] else { throw Unexpected("\(answer)") }
    return code
  }
}
