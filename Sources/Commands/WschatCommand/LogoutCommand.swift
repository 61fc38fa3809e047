import ArgumentParser
import Client
import Platform

/// The command `wschat logout`.
struct LogoutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout",
    abstract: "Sign this device out, and remove the login from it.",
    discussion: """
      History, drafts and messages that were not sent stay on this machine. The login is removed even \
      if the relay cannot be reached.
      """)

  @OptionGroup var options: LoginOptions

  mutating func run() throws {
    let logins = try options.logins()
    let (login, request) = try options.login(in: logins)
    var reason: Sessions.Failure?
    do throws(Sessions.Failure) {
      try Sessions.end("current", request)
    } catch {
      // It has ended already.
      if case .signedOut = error {} else { reason = error }
    }
    do throws(SystemError) {
      try logins.remove(login.profile)
    } catch {
      throw failure(LineChat.refused, "the login of \(login.profile) is still here: \(error)")
    }
    if let reason {
      throw failure(
        LineChat.noConnection,
        "the login of \(login.profile) was removed from this machine, but its session may live on at "
          + "\(login.url.authority): \(reason). End \"wschat on …\" there from another device.")
    }
    StandardOutput.write("Signed out of \(login.profile).\n")
  }
}
