import Client
import Messenger
import Platform

/// Signs this device in again after the relay has ended its session.
final class SignInDriver {
  /// Called before the token of another user is used.
  var becomesOther: (String) -> Void = { _ in }
  private let client: Client
  private let host: ChatHost
  private let logins = Logins.own
  private let driver: DeviceLoginDriver
  private var login: Login?

  init(_ client: Client, _ host: ChatHost, _ login: Login?) throws(SystemError) {
    self.client = client
    self.host = host
    self.login = login
    let configuration = client.configuration
    driver = try DeviceLoginDriver(
      configuration.url, configuration.trust, on: host.dispatcher)
    driver.changed = { [unowned self] in follow($0) }
  }

  func begin() { driver.begin() }

  func end() { driver.end() }

  /// After the token was refused: continues with that of another process, which has signed in
  /// meanwhile under the same profile.
  func useOtherLogin() {
    guard let login,
      let other = logins?.usable(login.profile, tell: { host.post(.failed($0)) }),
      other.url == login.url,
      other.grant.token != login.grant.token
    else { return }
    use(other)
  }

  private func follow(_ state: DeviceLogin.State) {
    switch state {
    case .starting: host.post(.signIn(.starting))
    case .waiting(let code, let problem): host.post(.signIn(.code(code, problem: problem)))
    case .ended(.signedIn(let grant)):
      guard var login else { return }
      login.grant = grant
      use(login)
      do throws(SystemError) {
        try logins?.keep(login)
      } catch {
        host.post(.failed("The login cannot be stored, and holds until wschat ends: \(error)"))
      }
    case .ended(let outcome):
      host.post(.signIn(.ended(outcome.explanation(client.configuration.url))))
    }
  }

  private func use(_ login: Login) {
    let isOther = login.grant.user != host.chat.user
    self.login = login
    if isOther {
      client.forgetUser()
      becomesOther(login.grant.user)
    }
    host.post(.signedIn(login.grant.user))
    client.renew(token: login.grant.token)
  }
}
