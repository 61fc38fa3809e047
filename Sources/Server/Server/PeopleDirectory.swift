import Directories
import Gateway
import Logging
import Platform
import Relay
internal import RelayConfiguration
import Synchronization

/// Opens and starts the directory that a configuration names, and logs its state.
enum PeopleDirectory {
  /// Returns a directory that is not started.
  static func open(
    _ configuration: Configuration, _ logger: Logger
  ) throws(SystemError) -> any Directory {
    let settings = configuration.directory
    let report: @Sendable (String) -> Void = { logger.warning("\($0)") }
    let folder = configuration.log.durability == .memory ? nil : configuration.dataFolder
    guard settings.kind != .local else {
      return try LocalDirectory(
        file: settings.file, mayBeMissing: settings.mayBeMissing, folder: folder, report: report)
    }
    var options = RemoteDirectory.Options()
    options.folder = folder
    options.peopleLimit = settings.peopleLimit
    options.userAgent = "relay/\(Server.version)"
    let ownRefresh = settings.kind == .x ? 86_400 : 3600
    let refresh = settings.refreshSeconds == 0 ? ownRefresh : settings.refreshSeconds
    options.refreshMilliseconds = Int64(refresh) * 1000
    if settings.kind == .x, let account = XService.account(in: settings.source) {
      return try RemoteDirectory.x(
        followersOf: account, version: settings.api, baseURL: settings.serviceURL,
        key: settings.key, secret: settings.secret, options: options, report: report)
    }
    guard let source = GitHubSource(settings.source) else {
      preconditionFailure("a configuration that was loaded names a source")
    }
    return try RemoteDirectory.gitHub(
      source, baseURL: settings.serviceURL, token: settings.tokenSource, options: options,
      report: report)
  }

  /// Starts the directory: sends its updates to every loop, and logs them if they changed.
  static func start(
    _ directory: any Directory, _ people: ListedPeople, _ mailboxes: [Mailbox<LoopMessage>],
    _ logger: Logger
  ) {
    let last = Mutex("")
    directory.start { update in
      people.publish(update, to: mailboxes)
      let sentence = Self.sentence(update)
      let isNews = last.withLock { last in
        // An initially empty list is not worth a log line.
        if last == sentence || last.isEmpty && update.people.people.isEmpty && update.problem == nil
        {
          return false
        }
        last = sentence
        return true
      }
      guard isNews else { return }
      logger.log(level: update.problem == nil ? .info : .warning, "\(sentence)")
    }
  }

  private static func sentence(_ update: DirectoryUpdate) -> String {
    let list = update.people
    let people = list.people.count.counted("person", "people")
    let leftOut = list.leftOut == 0 ? "" : ", \(list.leftOut) left out"
    let known =
      list.asOf == 0
      ? "The directory has no people yet."
      : "The directory has \(people) from \(list.source)\(leftOut)."
    switch update.problem {
    case nil: return known
    case .limited(let until):
      let wait = until.map { " for \(max(0, $0 - WallClock.milliseconds) / 1000) s" } ?? ""
      return "The directory's service limits the rate of requests\(wait). \(known)"
    case .failed(let text, let support):
      return "\(text)\(support.map { " Support id: \($0)." } ?? "") \(known)"
    }
  }
}

extension Configuration {
  /// The services that name pictures and that the operator has configured.
  var pictureServices: [String] {
    (directory.kind == .local ? [] : [directory.serviceURL])
      + (auth.mode == .accounts ? Array(auth.providerOrigins) : [])
  }
}

extension Configuration.Directory {
  /// The default file is optional.
  fileprivate var mayBeMissing: Bool { file == Self.defaultFile }

  fileprivate var tokenSource: TokenSource {
    if !token.isEmpty { return .fixed(token) }
    return tokenCommand.isEmpty ? .none : .command(tokenCommand)
  }

  /// Checks the file, and throws its errors.
  func check() throws(ServerError) {
    guard kind == .local else { return }
    let found = LocalDirectory.check(file: file, mayBeMissing: mayBeMissing)
    guard found.wrong.isEmpty else { throw ServerError(found.wrong.joined(separator: "\n")) }
  }
}
