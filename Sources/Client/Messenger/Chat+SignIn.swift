public import Client
import Terminal

/// A session of this device that the relay has ended, and signing in again, without a restart: what
/// was written stays.
extension Chat {
  /// The state of a sign-in that the overlay shows.
  public enum SignIn: Equatable, Sendable {
    /// The relay was asked for a code.
    case starting
    /// The user may use the code; `problem` is why the relay cannot be asked whether it was.
    case code(DeviceCode, problem: String?)
    /// Why there is no code, or none any more, as a sentence; another can be asked for.
    case ended(String)
  }

  /// Handles the end of the session of this device.
  mutating func signedOut(_ reason: String) {
    let keys = [label(.signIn), "/login"].compactMap(\.self).joined(separator: " or ")
    let text = "This device was signed out; \(keys) signs in again. (\(reason))"
    set(.signedOut, text)
    connection = .ended(text)
  }

  mutating func openSignIn(_ effects: inout [Effect]) {
    guard canSignIn else {
      return complain(
        "This wschat was started without a login. Quit, and run wschat login with the relay's URL.")
    }
    guard conditions[.signedOut] != nil else {
      return complain("You are signed in\(user.map { " as \($0)" } ?? "").", isError: false)
    }
    if signIn == nil { beginSignIn(&effects) }
    overlay = .signIn
  }

  mutating func beginSignIn(_ effects: inout [Effect]) {
    signIn = .starting
    effects.append(.signIn)
  }

  /// Follows a sign-in that was asked for.
  mutating func followSignIn(_ state: SignIn) {
    if signIn != nil { signIn = state }
  }

  /// Takes the end of a sign-in; the connection follows.
  mutating func signedIn(as user: String) {
    signIn = nil
    if overlay == .signIn { overlay = nil }
    if covered == .signIn { covered = nil }
    conditions[.signedOut] = nil
    connection = .connecting
    complain("Signed in as \(user).", isError: false)
  }

  /// Gives up a sign-in whose overlay was closed, by whatever has closed it.
  mutating func endClosedSignIn(_ effects: inout [Effect]) {
    var isCovered = false
    if case .help = overlay { isCovered = covered == .signIn }
    guard signIn != nil, overlay != .signIn, !isCovered else { return }
    signIn = nil
    effects.append(.endSignIn)
  }
}
