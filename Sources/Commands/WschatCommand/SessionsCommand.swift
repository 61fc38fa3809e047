import ArgumentParser
import Client
import Glibc
import Messenger
import Platform
import Terminal

/// The command `wschat sessions`.
struct SessionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sessions",
    abstract: "List the devices that are signed in to your account, or end their sessions.")

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("End the session of a device, as it is listed.", valueName: "id"))
  var end: String?

  @Flag(help: "End the sessions of all devices but this one.")
  var endOthers = false

  @OptionGroup var options: LoginOptions

  mutating func validate() throws {
    if end != nil, endOthers { throw ValidationError("--end and --end-others cannot be combined") }
    if let end, !DeviceGrant.isSession(end) {
      throw ValidationError("\"\(end)\" is not the id of a session")
    }
  }

  mutating func run() throws {
    let (login, request) = try options.login(in: try options.logins())
    if end == "current" || end == login.grant.session {
      throw ValidationError("this is the session of this device: use wschat logout")
    }
    do throws(Sessions.Failure) {
      if let end {
        try Sessions.end(end, request)
        StandardOutput.write("Ended the session \(end).\n")
      } else if endOthers {
        try endOthers(request)
      } else {
        for session in try Sessions.list(request).sorted(by: { $0.usedAt > $1.usedAt }) {
          StandardOutput.write(Self.line(session))
        }
      }
    } catch {
      let code: ExitCode =
        switch error {
        case .signedOut: LineChat.accessDenied
        case .unreachable: LineChat.noConnection
        case .noSession, .refused: LineChat.refused
        }
      throw failure(code, "\(error)")
    }
  }

  private func endOthers(_ request: RelayRequest) throws(Sessions.Failure) {
    let sessions = try Sessions.list(request)
    // Without a mark all of them would be others.
    guard sessions.contains(where: \.isCurrent) else {
      throw .refused("its list does not say which session is that of this device")
    }
    var count = 0
    for session in sessions where !session.isCurrent {
      do throws(Sessions.Failure) {
        try Sessions.end(session.id, request)
        count += 1
      } catch {
        // One that has ended meanwhile is what was wanted.
        guard case .noSession = error else { throw error }
      }
    }
    StandardOutput.write("Ended \(count) other \(count == 1 ? "session" : "sessions").\n")
  }

  /// Returns `ID  YYYY-MM-DD HH:MM  ADDRESS  DEVICE`; this device's has a mark.
  private static func line(_ session: Sessions.Session) -> String {
    LocalTime.followZone()
    let time = LocalTime(milliseconds: session.usedAt)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let used =
      "\(time.year)-\(two(time.month))-\(two(time.day)) \(two(time.hour)):\(two(time.minute))"
    let device = session.device.isEmpty ? "unnamed" : session.device
    return TerminalText.line(
      "\(session.id)  \(used)  \(session.address)  \(device)"
        + (session.isCurrent ? "  (this device)" : "")) + "\n"
  }
}
