import Accounts
import Gateway
import Glibc
import Logging
import Platform
import PostgresLog
import Relay
import RelayConfiguration
import SQLiteLog

/// The parts that a server opens from its configuration.
extension Server {
  static func openLog(
    _ configuration: Configuration, _ logger: Logger, _ lead: BotLead, _ filters: IndexFilters?,
    _ isCancelled: () -> Bool
  ) throws(ServerError) -> any Log {
    if configuration.log.engine == .postgresql {
      // For what is each relay's own: the list of people.
      do throws(StoreError) {
        try Store.prepare(folder: configuration.dataFolder) { logger.error("\($0)") }
      } catch {
        throw ServerError(error)
      }
      do throws(StoreFailure) {
        return try PostgresLog(
          url: configuration.log.url, options: .init(configuration),
          report: { logger.error("\($0)") },
          end: {
            logger.critical("\($0) The relay exits; started again, it follows what is there.")
            _exit(ExitStatus.environment)
          }, lead: { lead.set($0) }, isCancelled: isCancelled)
      } catch {
        throw ServerError("\(error).", error.isConfiguration ? .configuration : .environment)
      }
    }
    let durability: Durability
    switch configuration.log.durability {
    case .memory:
      var random = SystemRandomNumberGenerator()
      return MemoryLog(
        epoch: Lineage.randomName(using: &random),
        retention: configuration.retained,
        roomsPerUser: configuration.limits.roomsPerUser, limits: configuration.limits.entry,
        identityKey: .random(using: &random), clock: { WallClock.milliseconds },
        microseconds: { Int64(Instant.now().nanoseconds / 1000) })
    case .fsync: durability = .fsync
    case .os: durability = .os
    }
    var options = SQLiteLog.Options(configuration)
    options.durability = durability
    options.filters = filters
    do {
      return try SQLiteLog(folder: configuration.dataFolder, options: options) {
        logger.error("\($0)")
      }
    } catch {
      throw ServerError(error)
    }
  }

  /// Opens the accounts.
  /// - Returns: also the link for the first operator, if there is no account.
  static func openAccounts(
    _ configuration: Configuration, publicURL: String, _ names: ReservedNames, _ log: any Log,
    _ logger: Logger, changed: @escaping @Sendable (Account) -> Void
  ) throws(ServerError) -> (AccountKeeper, String?) {
    do throws(AccountError) {
      let service = try configuration.openAccounts(publicURL: publicURL, names)
      let link = try service.makeFirstLink(now: WallClock.milliseconds)
      let warn: @Sendable (String) -> Void = { logger.warning("\($0)") }
      let accounts = AccountKeeper(
        service,
        providers: ProviderCaller(origins: configuration.auth.providerOrigins, report: warn),
        hash: AccountEnvironment.sha256, changed: changed, warn: warn)
      return (accounts, link)
    } catch {
      log.stop()
      throw ServerError("The accounts cannot be opened. \(error.explanation)", .environment)
    }
  }

  static func raiseDescriptorLimit(
    _ configuration: Configuration, _ logger: Logger
  ) -> Int? {
    guard let limit = try? DescriptorLimit.raise() else { return nil }
    let wanted = configuration.limits.connections
    if wanted > 0, limit < wanted {
      logger.notice(
        "The limit of \(limit) open files is lower than limits.connections (\(wanted)). Raise it with ulimit -n."
      )
    }
    return limit
  }

  /// Returns what the operator's log says of a server that starts.
  func description(of configuration: Configuration, loops: Int) -> Logger.Metadata {
    let statistics = log.statistics()
    var fields: Logger.Metadata = [
      "version": "\(Self.version)", "address": "\(address)",
      "tls": "\(credentials == nil ? "off" : "on")", "data": "\(configuration.dataFolder)",
      "store": "\(configuration.log.engine.rawValue)",
      "durability": "\(configuration.log.durability.rawValue)", "epoch": "\(log.epoch)",
      "auth": "\(configuration.auth.mode.rawValue)", "loops": .stringConvertible(loops),
      "rooms": .stringConvertible(statistics.rooms),
    ]
    if let entries = statistics.entriesAtStart { fields["entries"] = .stringConvertible(entries) }
    return fields
  }
}

extension SQLiteLog.Options {
  init(_ configuration: Configuration) {
    self.init()
    retention = configuration.retained
    minimumFreeBytes = configuration.log.minimumFreeBytes
    roomsPerUser = configuration.limits.roomsPerUser
    limits = configuration.limits.entry
    commitDelayMilliseconds = configuration.debug.commitDelayMilliseconds
  }
}
