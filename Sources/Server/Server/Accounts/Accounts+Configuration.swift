import Gateway
import AccountStores
import Accounts
import Directories
import Glibc
import Platform
import PostgresLog
import Relay
internal import RelayConfiguration
import SQLiteLog
import Synchronization
import Wire

extension Configuration {
  /// The name of the file of accounts in the data folder.
  static let accountsFile = "accounts.db"

  /// Where browsers find the relay, without a slash at the end.
  /// - Parameter address: where it listens.
  func publicURL(listeningOn address: String) -> String {
    publicOrigin(listeningOn: address) + pathPrefix
  }

  func publicOrigin(listeningOn address: String) -> String {
    guard auth.publicURL.isEmpty else {
      var url = auth.publicURL.hasSuffix("/") ? String(auth.publicURL.dropLast()) : auth.publicURL
      // Browsers leave it out of Origin (RFC 6454 §6.1).
      for (scheme, port) in [("https:", ":443"), ("http:", ":80")]
      where url.hasPrefix(scheme) && url.hasSuffix(port) {
        url.removeLast(port.utf8.count)
      }
      return url
    }
    return "\(tls.isOff ? "http" : "https")://\(address)"
  }

  /// Whether the data folder has a file of accounts, or a database may have some.
  var hasAccounts: Bool {
    log.engine == .postgresql || Self.hasAccountsFile(in: dataFolder)
  }

  static func hasAccountsFile(in folder: String) -> Bool {
    unsafe access("\(folder)/\(accountsFile)", F_OK) == 0
  }

  /// Opens the accounts where the log is.
  /// - Parameters:
  ///   - publicURL: what links begin with.
  ///   - names: those that no new account gets.
  func openAccounts(
    publicURL: String, _ names: ReservedNames
  ) throws(AccountError) -> AccountService {
    var settings = AccountSettings(publicURL: publicURL)
    settings.everyoneInvites = auth.invites == .members
    settings.sessionDays = auth.sessionDays
    settings.signInsPerMinute = limits.signInsPerMinute
    settings.bots = Set(bots.map(\.user))
    settings.providers = auth.providers
    return AccountService(
      settings,
      AccountEnvironment(
        names, isKnown: knowsUser(),
        hasTakenPart: knowsUser(byTakingPart: true)),
      store: try openAccountStore())
  }

  private func openAccountStore() throws(AccountError) -> SQLAccountStore {
    switch (log.engine, log.durability) {
    case (.postgresql, _):
      return try SQLAccountStore.postgresql(url: log.url, options: PostgresLog.Options(self))
    case (.sqlite, .memory): return try SQLAccountStore.sqlite(path: nil)
    case (.sqlite, _):
      do throws(SystemError) { try PrivateFiles.createFolder(dataFolder) } catch {
        throw .unavailable("\(error)")
      }
      return try SQLAccountStore.sqlite(path: "\(dataFolder)/\(Self.accountsFile)")
    }
  }

  /// The issuer of the accounts whose people the directory lists: of GitHub, where people sign in at the same
  /// one.
  var directoryIssuer: String? {
    guard auth.mode == .accounts, auth.signIn.contains(.github), directory.kind == .github
    else { return nil }
    let url = directory.serviceURL
    let listed = WebAddress(url.hasSuffix("/") ? String(url.dropLast()) : url)
    return listed == WebAddress(auth.gitHub.apiURL) ? auth.gitHub.baseURL : nil
  }

  /// Returns a function that says whether the log knows a user.
  /// - Parameter byTakingPart: as in `Store.knows`.
  private func knowsUser(
    byTakingPart: Bool = false
  ) -> @Sendable (String) throws(AccountError) -> Bool {
    let folder = dataFolder
    switch (log.engine, log.durability) {
    case (.sqlite, .memory): return { _ in false }
    case (.sqlite, _):
      return { user throws(AccountError) in
        do throws(StoreError) {
          return try Store.knows(user, byTakingPart: byTakingPart, folder: folder)
        } catch {
          throw .unavailable("\(error)")
        }
      }
    case (.postgresql, _):
      let (url, options) = (log.url, PostgresLog.Options(self))
      return { user throws(AccountError) in
        do throws(StoreFailure) {
          return try Maintenance.knows(
            user, byTakingPart: byTakingPart, url: url, options: options)
        } catch {
          throw .unavailable("\(error)")
        }
      }
    }
  }
}

extension Configuration.Auth {
  /// Returns the answer to `GET /v1/sign-in`.
  func describedMethods(publicURL: String) -> [UInt8] {
    var json = Array("{\"mode\":\"\(mode.rawValue)\"".utf8)
    if mode == .accounts {
      let methods = signIn.map { method in
        var text = Array("{\"method\":\"\(method.rawValue)\"".utf8)
        if let provider = providers.first(where: { $0.method == method.rawValue }) {
          text += Array(",\"title\":".utf8)
          text.append(jsonString: provider.title)
        }
        return text + Array("}".utf8)
      }
      json += Array(",\"methods\":[".utf8) + methods.joined(separator: Array(",".utf8))
      json += Array("],\"url\":".utf8)
      json.append(jsonString: "\(publicURL)/")
      let rows = AccountEnvironment.rows(ofQRCode: "\(publicURL)/").map { "\"\($0)\"" }
      json += Array(",\"qr\":[\(rows.joined(separator: ","))]".utf8)
    }
    return json + Array("}".utf8)
  }

  /// The services at which people sign in.
  var providers: [any SignInProvider] {
    signIn.compactMap { method -> (any SignInProvider)? in
      switch method {
      case .invite: nil
      case .github:
        GitHubProvider(
          clientID: gitHub.clientID, clientSecret: gitHub.clientSecret,
          organization: gitHub.organization, baseURL: gitHub.baseURL, apiURL: gitHub.apiURL)
      case .oidc:
        OIDCProvider(
          title: oidc.title, issuer: oidc.issuer, clientID: oidc.clientID,
          clientSecret: oidc.clientSecret, userClaim: oidc.userClaim, groups: oidc.groups,
          groupsClaim: oidc.groupsClaim, check: Self.check)
      }
    }
  }

  /// Checks the signature of an ID token by a provider's keys.
  private static func check(_ token: String, _ document: [UInt8]) -> OIDCProvider.CheckedToken {
    do {
      let keys = try JSONWebKeySet(document, allowsSecrets: false)
      return .claims(try DecodedToken(token, keys: KeySet(keys.keys)).payload)
    } catch let error as JSONWebKeySet.Unusable {
      return .refused("The provider's JWK Set \(error.found)")
    } catch let error as DecodedToken.Refusal {
      return .refused(error.text)
    } catch {
      preconditionFailure("both throw their own errors")
    }
  }

  /// The origins that the relay connects to for them.
  var providerOrigins: Set<String> {
    Set([gitHub.baseURL, gitHub.apiURL, oidc.issuer].compactMap { WebAddress($0)?.origin })
  }
}

extension AccountError {
  /// What happened, as a sentence for the operator.
  var explanation: String {
    switch self {
    case .refused(let problem): problem.detail
    case .unavailable(let text): text
    }
  }
}

/// The names that no new account gets, besides those of accounts and of bots. Thread-safe.
final class ReservedNames: Sendable {
  let people: ListedPeople
  private let configured: Mutex<(operators: Set<String>, banned: Set<String>)>
  private let authenticator = Mutex<Authenticator?>(nil)

  init(_ configuration: Configuration) {
    people = ListedPeople(issuer: configuration.directoryIssuer)
    configured = Mutex(Self.names(configuration.auth))
  }

  func setConfigured(_ auth: Configuration.Auth) {
    configured.withLock { $0 = Self.names(auth) }
  }

  func contains(_ user: String) -> Bool { isConfigured(user) || people.contains(user) }

  /// As in `AccountEnvironment`: whoever has a name of `auth.operators` would be an operator.
  func directoryName(_ person: ProviderBinding) -> String? {
    people.name(of: person).flatMap { isConfigured($0) ? nil : $0 }
  }

  func isOperator(_ user: String) -> Bool { configured.withLock { $0.operators.contains(user) } }

  /// From now on its bans count: it has those of the configuration and of the log.
  func follow(_ authenticator: Authenticator) { self.authenticator.withLock { $0 = authenticator } }

  /// Whether a user is banned, by the configuration or in the log.
  /// - Parameter now: milliseconds since 1970.
  func isBanned(_ user: String, now: Int64) -> Bool {
    authenticator.withLock { $0 }?.isBanned(user, wall: now) == true
  }

  private func isConfigured(_ user: String) -> Bool {
    configured.withLock { $0.operators.contains(user) || $0.banned.contains(user) }
  }

  private static func names(
    _ auth: Configuration.Auth
  ) -> (operators: Set<String>, banned: Set<String>) {
    (Set(auth.operators), Set(auth.banned))
  }
}
