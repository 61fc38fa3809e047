internal import Cluster
internal import Platform
package import Postgres
public import Relay
internal import Synchronization

/// A log in PostgreSQL, for any number of relays that serve the same rooms: nodes. All nodes are
/// equal, and know of each other only by what is stored: PostgreSQL orders, stores and wakes.
///
/// **It is a replicated state machine.** A node commits a batch while it holds the commit lock
/// (`PostgresStore`): it applies all batches of the others, and sequences its own on top with the
/// same `Sequencer` as any log. So all nodes apply one order of commits, which is the contract of
/// `Log`. docs/decisions/postgresql.md has the ways that were tried.
///
/// Three threads: the writer commits, the reader serves catch-up and history, the listener
/// hears of the other nodes' commits (`FeedListener`).
///
/// A commit whose connection was lost may have been stored or not. No request is answered until that
/// is known.
public final class PostgresLog: Log {
  /// Options of the log.
  public struct Options: Sendable {
    /// The schema of the tables: each is a store of its own.
    public var schema = "relay"
    /// The name of the node, for the operator.
    public var name = "relay"
    /// As in `SQLiteLog.Options`.
    public var retention = Retention()
    /// The interval of the passes of retention.
    package var retentionMilliseconds = RetentionPass.intervalMilliseconds
    /// As in `SQLiteLog.Options`.
    public var roomsPerUser = 0
    /// As in `SQLiteLog.Options`.
    public var limits = EntryLimits()
    /// What a user may spend over all nodes.
    public var budget = UserBudget.Limits()
    /// Whether the server has to sync commits before it confirms them.
    public var requiresSync = true
    /// Whether an entry is acknowledged and shown only once a synchronous standby has it.
    public var requiresReplication = false
    /// The connection URI or string of a replica for catch-up and history; `nil` = the log's own.
    public var readURL: String?
    /// How long `init` waits for a server that does not answer yet.
    public var waitSeconds = 60

    public init() {}
  }

  /// The name of the current epoch.
  public var epoch: String { progress.lineage.current.name }
  public let blocks: BlockTable
  public let bans: [BanChange]

  private let connector: Connector
  private let options: Options
  private let report: @Sendable (String) -> Void
  private let progress: ShownProgress
  private let node: Int64
  private let registration: Handover<Registration>
  private let submissions = WorkQueue<NodeTask>()
  private let reads = WorkQueue<(loop: Int, request: ReadRequest)>()
  private let meter: LogMeter
  private let nodeMeter = NodeMeter()
  private let spending = SpendingLedger()
  private let rules: RetentionRules
  /// The budgets of users, of which the nodes tell each other.
  public let budgets: Budgets<String>
  /// A secret that all nodes have.
  package let identityKey: EntryIdentity.Key
  private let end: @Sendable (String) -> Void
  private let lead: @Sendable (Bool) -> Void
  private let listener = Mutex<FeedListener?>(nil)
  /// The first one is the writer.
  private let threads = Mutex<[WorkerThread]>([])

  /// Connects, creates the tables if they are missing, and registers a node.
  /// - Parameters:
  ///   - url: a connection URI or string, as libpq takes it.
  ///   - report: called on any thread with messages for the operator.
  ///   - end: called on any thread if this process can no longer be a node, with the reason. The log
  ///     refuses everything then; a new process can join again.
  ///   - lead: called with `true` when this node becomes the one that does what only one may do, and
  ///     with `false` when it no longer is. Another node takes over then.
  ///   - isCancelled: asked several times a second, whether to stop waiting.
  /// - Throws: if PostgreSQL cannot be reached for `Options.waitSeconds`, or not be used as a log.
  public init(
    url: String, options: Options = Options(), report: @escaping @Sendable (String) -> Void,
    end: @escaping @Sendable (String) -> Void,
    lead: @escaping @Sendable (Bool) -> Void = { _ in }, isCancelled: () -> Bool = { false }
  ) throws(StoreFailure) {
    let connector = Connector(url: url, schema: options.schema)
    let registration: Registration
    do throws(PostgresError) {
      registration = try Registration.waiting(
        connector, options, report: report, isCancelled: isCancelled)
    } catch {
      throw StoreFailure(
        "PostgreSQL cannot be used as a log: \(error)", isConfiguration: !error.isTransient)
    }
    let state = registration.state
    do {
      progress = try ShownProgress(state.lineage, position: state.shownPosition)
    } catch {
      throw StoreFailure("\(error)")
    }
    self.lead = lead
    self.connector = connector
    self.options = options
    self.report = report
    self.end = end
    node = state.node
    identityKey = registration.identityKey
    (blocks, bans) = (registration.blocks, registration.bans)
    meter = LogMeter(rooms: Int(registration.lastRoom))
    budgets = spending.budgets(options.budget)
    rules = RetentionRules(options.retention)
    self.registration = Handover(registration)
  }

  /// Checks whether a PostgreSQL can be used as a log; changes nothing.
  public static func check(
    url: String, options: Options = Options()
  ) throws(StoreFailure) {
    do throws(PostgresError) {
      let connector = Connector(url: url, schema: options.schema)
      _ = try Registration.check(connector, options)
    } catch {
      throw StoreFailure("PostgreSQL cannot be used as a log: \(error)")
    }
  }

  /// Connects to the schema of a log, for what is kept beside it.
  /// - Parameter purpose: shown in `pg_stat_activity`.
  package static func connect(
    url: String, options: Options, for purpose: String
  ) throws(PostgresError) -> PostgresConnection {
    try Connector(url: url, schema: options.schema).connect(purpose)
  }

  /// See `Log`. Must be called once.
  public func start(
    loops: Int, framing: Framing, publish: @escaping @Sendable (_ loop: Int, LogDelivery) -> Void
  ) throws(StoreFailure) {
    let publishers = (0..<loops).map { LoopPublisher(loop: $0, publish: publish) }
    let (options, connector, progress, report) = (options, connector, progress, report)
    let (nodeMeter, meter, rules) = (nodeMeter, meter, rules)
    var started: [WorkerThread] = []
    do {
      let listener = try FeedListener(
        connector, node: node, tasks: submissions, spending: spending, meter: nodeMeter,
        cleaner: LogCleaner(
          RetentionPass(
            rules, store: "the log", check: "PostgreSQL and the network between", meter: meter,
            report: report),
          intervalMilliseconds: options.retentionMilliseconds, tasks: submissions),
        lead: { [lead] leads in
          nodeMeter.record { $0.leads = leads }
          lead(leads)
        })
      self.listener.withLock { $0 = listener }
      let writer = PostgresWriter(
        publishers: publishers, listener: listener, progress: progress, budgets: budgets,
        spending: spending, report: report)
      started.append(
        try WorkerThread(name: "log-write") { [registration, submissions, end] in
          guard let registration = registration.take() else { return }
          let store = PostgresStore(
            connector, registration, options, meter: nodeMeter, isEnding: { submissions.isEnding },
            end: end)
          let sequencer = Sequencer(
            lineage: store.state.lineage, retention: options.retention,
            roomsPerUser: options.roomsPerUser, limits: options.limits,
            blocks: registration.blocks, loops: loops)
          let node = LogNode(
            sequencer, store: store, framing: framing,
            hidesUnreplicated: options.requiresReplication, meter: meter,
            clock: { (Int64(Instant.now().nanoseconds), WallClock.milliseconds) })
          writer.run(submissions, store: store, node: node)
        })
      started.append(
        try WorkerThread(name: "log-read") { [reads] in
          let reader = PostgresReader(
            connector,
            replica: options.readURL.map {
              Connector(url: $0, schema: options.schema, onlyReads: true)
            }, progress: progress, hidesUnreplicated: options.requiresReplication,
            follow: { listener.follow() })
          var outage = Outage(
            "Reading", path: "the log", check: "PostgreSQL and the network between",
            meanwhile: "Clients are told to retry", report: report)
          while let batch = reads.takeAll() {
            for (loop, request) in batch {
              let answer = reader.answer(request, framing)
              outage.update(reader.failure)
              publishers[loop].post(
                LogDelivery(commit: nil, answers: [answer], completesSubmit: false))
            }
          }
        })
      started.append(try WorkerThread(name: "log-listen") { listener.run() })
    } catch {
      threads.withLock { $0 = started }
      throw StoreFailure("\(error)")
    }
    threads.withLock { threads in
      precondition(threads.isEmpty, "the log has already been started")
      threads = started
    }
  }

  public func submit(_ requests: [LogRequest], from loop: Int) {
    submissions.append(.submit(loop: loop, requests))
  }

  public func read(_ request: ReadRequest, from loop: Int) {
    reads.append((loop, request))
  }

  public func apply(_ retention: Retention) {
    rules.replace(by: retention)
    submissions.append(.retain(retention))
  }

  public func statistics() -> LogStatistics { meter.statistics }

  /// Returns the counters of this node since the start.
  public func nodeStatistics() -> NodeStatistics { nodeMeter.statistics }

  /// See `Log`. Must not be called by `publish`.
  public func stop() {
    let threads = threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
    reads.close()
    submissions.close()
    for thread in threads.prefix(2) { thread.join() }
    // The listener last: its end tells the others that this node has ended.
    listener.withLock { $0?.stop() }
    for thread in threads.dropFirst(2) { thread.join() }
    _ = registration.take()
  }
}
