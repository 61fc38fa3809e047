import Accounts
import Bots
import Directories
internal import EventLoop
import Gateway
import Glibc
public import Logging
import PictureProcessing
public import Platform
import PostgresLog
import Relay
public import RelayConfiguration
import SQLiteLog
import Synchronization

/// A running relay: its log, loops and bots, built from one configuration.
public final class Server: Sendable {
  /// The version in `--version` and `welcome`.
  public static let version = "0.1.0"

  /// The address that it listens on, with the actual port.
  public let address: Address
  /// `ws` or `wss`.
  public var scheme: String { credentials == nil ? "ws" : "wss" }

  let credentials: TLSCredentials?
  let authenticator: Authenticator
  /// `nil` in open mode.
  let authority: TokenAuthority?
  let authMode: Configuration.AuthMode
  let logger: Logger
  let log: any Log
  private let directory: any Directory
  private let avatars: AvatarCache
  let names: ReservedNames
  private let accounts: AccountKeeper?
  private let files: FileKeeper?
  /// The link that makes its opener the first operator; `nil` if there are accounts already, or none are
  /// used.
  public let firstLink: String?
  let mailboxes: [Mailbox<LoopMessage>]
  let heartbeats: [Heartbeat]
  /// Copies of what the loops listen on.
  public let sockets: ListeningSockets
  /// Receives an element from each loop that needs the log no more.
  private let finished: WorkQueue<Void>
  private let threads: Mutex<[WorkerThread]>
  private let memoryRetention: MemoryRetention?
  private let bots: Mutex<Task<Void, Never>?>

  /// Opens the store, listens, and starts to serve; returns when clients can connect.
  /// - Parameters:
  ///   - sockets: what it listens on, instead of `listen`.
  ///   - predecessor: the relay from which it takes over.
  ///   - isCancelled: asked while it waits for a PostgreSQL that does not answer yet, or for the predecessor.
  /// - Throws: what is wrong with the environment, as a sentence for the operator.
  public convenience init(
    _ configuration: Configuration, logger: Logger, sockets: ListeningSockets? = nil,
    predecessor: Predecessor? = nil, isCancelled: () -> Bool = { false }
  ) throws(ServerError) {
    let lead = BotLead()
    try self.init(
      configuration, logger: logger, sockets: predecessor?.sockets ?? sockets, lead: lead
    ) { (configuration, logger) throws(ServerError) in
      let filters = try predecessor?.release(configuration, isCancelled)
      return try Self.openLog(configuration, logger, lead, filters, isCancelled)
    }
  }

  /// - Parameters:
  ///   - lead: says when this relay runs the bots; `nil` = always.
  ///   - openLog: called once the port is bound.
  init(
    _ configuration: Configuration, logger: Logger, sockets passed: ListeningSockets? = nil,
    lead: BotLead? = nil,
    openLog: (Configuration, Logger) throws(ServerError) -> any Log
  ) throws(ServerError) {
    ignoreSIGPIPE()
    let descriptors = Self.raiseDescriptorLimit(configuration, logger)
    credentials = try TLSCredentials(configuration.tls)
    authority = try TokenAuthority.open(configuration, logger)
    let auth = configuration.auth
    authMode = auth.mode
    self.logger = logger
    if auth.mode == .open, !auth.secret.isEmpty {
      logger.warning(
        "auth.secret is not used: auth.mode is open, and clients may claim any name. Set auth.mode: jwt to require tokens."
      )
    }
    Self.warnOfHiddenRules(configuration, logger)
    // Binds the port first: a second relay on the same port must not touch the store.
    let loops = configuration.loops == 0 ? ProcessorCount.usable : configuration.loops
    var listener = try Self.claim(configuration.listen, unless: passed, loops: max(1, loops))
    address = listener.address
    let names = ReservedNames(configuration)
    var shard = configuration.shard
    let authenticator: Authenticator
    if configuration.auth.mode == .accounts {
      log = try openLog(configuration, logger)
      let url = configuration.publicURL(listeningOn: "\(listener.address)")
      (accounts, firstLink) = try Self.openAccounts(
        configuration, publicURL: url, names, log, logger
      ) { [seen = shard.seen] account in
        names.people.record(account)
        seen?.record(account.user, name: account.name, avatar: account.picture)
      }
      authenticator = Authenticator(
        verify: accounts?.verify,
        cookie: SessionCookie(
          url: url, isDefault: configuration.auth.publicURL.isEmpty,
          pathPrefix: configuration.pathPrefix),
        botUsers: Set(configuration.bots.map(\.user)), banned: Set(configuration.auth.banned),
        operators: Set(configuration.auth.operators))
    } else {
      (accounts, firstLink) = (nil, nil)
      authenticator = Authenticator(configuration, authority)
      log = try openLog(configuration, logger)
    }
    shard.blocks = log.blocks
    let pictures = Self.pictures(logger)
    let (files, fileSettings) = try Self.openFiles(configuration, log, pictures)
    self.files = files
    authenticator.apply(BanNews(isWhole: true, changes: log.bans))
    self.authenticator = authenticator
    names.follow(authenticator)
    self.names = names

    let sockets = ListeningSockets(isShared: listener.isShared)
    self.sockets = sockets
    finished = WorkQueue()
    do {
      var mailboxes: [Mailbox<LoopMessage>] = []
      for _ in 0..<loops { mailboxes.append(try Mailbox()) }
      self.mailboxes = mailboxes
      let heartbeats = mailboxes.map { _ in Heartbeat() }
      self.heartbeats = heartbeats
      directory = try PeopleDirectory.open(configuration, logger)
      var avatarOptions = AvatarCache.Options(
        userAgent: "relay/\(Self.version)", services: configuration.pictureServices
      ) { pictures?.avatar($0) }
      avatarOptions.allowsPrivateAddresses = configuration.directory.allowsPrivateAvatars
      avatars = try AvatarCache(avatarOptions)
      var router = RequestRouter(
        origins: Set(configuration.auth.origins + [configuration.auth.publicURL]).subtracting([""]),
        requiresLoopbackHost: listener.address.isLoopback && !authenticator.takesTokens)
      router.pathPrefix = configuration.pathPrefix
      router.servesEcho = configuration.debug.echo
      router.contentLimitBytes = configuration.limits.shard.frameBytes
      router.compresses = configuration.compression.enabled
      router.metricsToken = configuration.metrics.token
      router.adminToken = configuration.admin.token
      router.servesAccounts = accounts != nil
      router.signInMethods = configuration.auth.describedMethods(
        publicURL: configuration.publicURL(listeningOn: "\(listener.address)"))
      router.fileLimitBytes = fileSettings?.limitBytes
      router.fileHost = fileSettings.flatMap { _ in
        configuration.fileHost(listeningOn: "\(listener.address)")
      }
      if configuration.web {
        router.files = .embedded(fileOrigin: router.fileHost?.origin)
      }
      let limits = configuration.limits.connection
      let proxies = TrustedProxies(
        configuration.trustedProxies, sendHeaders: configuration.proxyProtocol)
      var context = ConnectionLoop.Context(
        limits: limits, shard: shard, router: router, authenticator: authenticator,
        admission: Admission(limits: limits, descriptors: descriptors), epoch: log.epoch,
        budgets: (log as? PostgresLog)?.budgets, loopCount: max(1, loops),
        compressesFromBytes: configuration.compression.minimumBytes,
        drainSeconds: configuration.drainSeconds)
      context.proxies = proxies.chain
      context.files = fileSettings
      context.sampleMilliseconds = SampleRing.intervalMilliseconds
      let shared = SocketWorld.Shared(
        log: log, mailboxes: mailboxes, heartbeats: heartbeats, sockets: sockets,
        finished: finished, avatars: avatars,
        accounts: accounts, files: files,
        authority: authority, credentials: credentials,
        proxies: proxies, logger: logger,
        metrics: Metrics.reader(context, log, files, bots: configuration.bots.count))
      try log.start(loops: loops, framing: .webSocket) { [mailboxes] loop, delivery in
        mailboxes[loop].post(.log(delivery))
      }
      memoryRetention = try (log as? MemoryLog).map { try MemoryRetention($0) }
      try accounts?.start(mailboxes) { logger.error("\($0)") }
      try files?.start(mailboxes) { logger.error("\($0)") }
      // Before the loops, whose first tokens wait for its keys.
      try authority?.start { [mailboxes] rule in
        for mailbox in mailboxes { mailbox.post(.tokenRule(rule)) }
      }
      var threads: [WorkerThread] = []
      for index in 1..<max(1, loops) {
        let sibling = try listener.sibling()
        try sockets.add(sibling)
        threads.append(try SocketLoop.start(index, context, shared, sibling))
      }
      try sockets.add(listener)
      let operators = Self.claimOperatorSocket(
        configuration, logger, unless: passed, copyTo: sockets)
      threads.append(try SocketLoop.start(0, context, shared, listener, operators: operators))
      self.threads = Mutex(threads)
    } catch {
      log.stop()
      throw ServerError("The relay cannot start: \(error).", .environment)
    }
    PeopleDirectory.start(directory, names.people, mailboxes, logger)
    bots = Mutex(nil)
    logger.info("The relay has started.", metadata: description(of: configuration, loops: loops))
    if let lead, configuration.log.engine == .postgresql {
      lead.observe { [weak self] leads in
        if leads { self?.startBots(configuration, logger) } else { self?.stopBots() }
      }
    } else {
      startBots(configuration, logger)
    }
  }

  /// Shuts down in order: accepted entries are committed and acknowledged, and every client is told
  /// when to reconnect. Returns soon; `waitUntilStopped` waits. Thread-safe.
  /// - Parameter isTakenOver: whether another process serves the sockets from now on: they stay open.
  public func shutDown(isTakenOver: Bool = false) {
    log.prepareToStop()
    stopBots()
    if isTakenOver { sockets.areHandedOver = true } else { sockets.close() }
    for mailbox in mailboxes { mailbox.post(.shutDown(isTakenOver: isTakenOver)) }
  }

  /// Closes the store as soon as nothing that was accepted waits for it: the clients may be connected
  /// still. Must be called once, after `shutDown`.
  public func closeStore() {
    var loops = mailboxes.count
    while loops > 0, let finished = finished.takeAll() { loops -= finished.count }
    accounts?.stop()
    files?.stopWriting()
    memoryRetention?.stop()
    log.stop()
  }

  /// Waits until everything has ended. Must be called once, after `closeStore`.
  public func waitUntilStopped() {
    let threads = threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
    directory.stop()
    avatars.stop()
    authority?.stop()
    for thread in threads { thread.join() }
    files?.stop()
  }

  /// Checks whether the files that a configuration names can be used; reads them with blocking
  /// calls.
  /// - Parameter logger: gets what does not keep the relay from starting.
  public static func check(_ configuration: Configuration, logger: Logger) throws(ServerError) {
    _ = try TLSCredentials(configuration.tls)
    try configuration.directory.check()
    if configuration.log.engine == .postgresql {
      do throws(StoreFailure) {
        try PostgresLog.check(url: configuration.log.url, options: .init(configuration))
      } catch {
        throw ServerError("\(error).")
      }
    }
    _ = try TokenAuthority.open(configuration, logger)
    warnOfHiddenRules(configuration, logger)
    try checkPrograms(of: configuration.bots)
  }

  static func warnOfHiddenRules(_ configuration: Configuration, _ logger: Logger) {
    for sentence in configuration.hiddenRetentionRules { logger.warning("\(sentence)") }
  }

  /// A bot whose program is missing does not keep a relay from starting, but is reported before.
  private static func checkPrograms(of bots: [Configuration.Bot]) throws(ServerError) {
    let missing = bots.filter {
      $0.behaviours.contains(.exec) && !ChildProgram.exists($0.command.first ?? "")
    }
    if missing.isEmpty { return }
    throw ServerError(
      missing.map {
        "The program \($0.command.first ?? "") of the bot \($0.user) does not exist or is not executable;"
          + " relative paths start at the working directory, and names without a slash are looked up in PATH."
      }.joined(separator: "\n"))
  }

  // MARK: - Bots

  private func stopBots() { bots.withLock { $0?.cancel() } }

  private func startBots(_ configuration: Configuration, _ logger: Logger) {
    guard !configuration.bots.isEmpty else { return }
    let descriptions = configuration.bots.map(BotDescription.init)
    let host = LoopBotHost(mailboxes)
    bots.withLock {
      $0 = Task {
        await BotSquad(descriptions, host: host, clock: ContinuousClock(), log: logger).run()
      }
    }
  }
}

/// Connects bots to the loops, distributed by name.
private final class LoopBotHost: BotHost {
  private let mailboxes: [Mailbox<LoopMessage>]

  init(_ mailboxes: [Mailbox<LoopMessage>]) { self.mailboxes = mailboxes }

  func connect(as user: String) async -> (any BotConnection)? {
    if Task.isCancelled { return nil }
    let place = user.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % mailboxes.count
    let channel = BotChannel(user: user, mailbox: mailboxes[place])
    mailboxes[place].post(.connectBot(channel))
    return BotLine(channel)
  }
}
