import AccountStores
import Accounts
import Platform
import PostgresLog
public import Relay
public import RelayConfiguration
import SQLiteLog

/// Where a relay keeps its log, for the work on it that no relay does.
public enum StorePlace: Sendable {
  /// A folder.
  case sqlite(folder: String)
  /// As a configuration says.
  case postgresql(Configuration)

  public init(_ configuration: Configuration) {
    self =
      switch configuration.log.engine {
      case .sqlite: .sqlite(folder: configuration.dataFolder)
      case .postgresql: .postgresql(configuration)
      }
  }

  /// Brings the schema up to date.
  /// - Parameter report: receives messages for the operator.
  /// - Returns: what was done, as a sentence for the operator.
  public func migrate(report: (String) -> Void) throws -> String {
    switch self {
    case .sqlite(let folder):
      let versions = try Store.migrate(folder: folder, report: report)
      return Self.sentence("The store \(folder)", versions.from, versions.to)
    case .postgresql(let configuration):
      let versions = try Self.explaining {
        try Maintenance.migrate(url: configuration.log.url, options: .init(configuration))
      }
      return Self.sentence("The log in PostgreSQL", versions.from, versions.to)
    }
  }

  private static func sentence(_ subject: String, _ from: Int, _ to: Int) -> String {
    switch from {
    case to: "\(subject) has version \(to), which is current."
    case 0: "\(subject) was created, with version \(to)."
    default: "\(subject) was brought from version \(from) to version \(to)."
    }
  }

  /// See `Store.rooms`.
  public func rooms() throws -> [RoomListing] {
    switch self {
    case .sqlite(let folder): try Store.rooms(folder: folder)
    case .postgresql(let configuration):
      try Self.explaining {
        try Maintenance.rooms(url: configuration.log.url, options: .init(configuration))
      }
    }
  }

  /// Returns the names of all rooms; none if there is no store yet.
  public func roomNames() throws -> Set<String> {
    if case .sqlite(let folder) = self, !Store.exists(folder: folder) { return [] }
    return Set(try rooms().map(\.name))
  }

  /// See `Store.retentionPlan`.
  public func retentionPlan(_ retention: Retention) throws -> RetentionPlan {
    let now = WallClock.milliseconds
    switch self {
    case .sqlite(let folder):
      return try Store.retentionPlan(folder: folder, retention, now: now)
    case .postgresql(let configuration):
      return try Self.explaining {
        try Maintenance.retentionPlan(
          url: configuration.log.url, options: .init(configuration), retention, now: now)
      }
    }
  }

  /// See `Store.bans`.
  public func bans() throws -> [BanChange] {
    switch self {
    case .sqlite(let folder): try Store.bans(folder: folder)
    case .postgresql(let configuration):
      try Self.explaining {
        try Maintenance.bans(url: configuration.log.url, options: .init(configuration))
      }
    }
  }

  /// See `Store.verify`. The file of accounts is checked as well, and the bytes of files.
  public func verify() throws -> StoreVerification {
    var verification = try verifyDatabases()
    try Self.explaining { try verifyFiles(&verification) }
    return verification
  }

  /// The same without the bytes of files.
  public func verifyDatabases() throws -> StoreVerification {
    switch self {
    case .sqlite(let folder):
      var verification = try Store.verify(folder: folder)
      let path = "\(folder)/\(Configuration.accountsFile)"
      if Configuration.hasAccountsFile(in: folder),
        let damage = SQLAccountStore.damage(
          ofFileAt: path, isInUse: Store.isInUse(folder: folder))
      {
        verification.add("the file of accounts \(path) is damaged: \(damage)")
      }
      return verification
    case .postgresql(let configuration):
      return try Self.explaining {
        try Maintenance.verify(url: configuration.log.url, options: .init(configuration))
      }
    }
  }

  /// See `Store.export`. The accounts follow, if all rooms are exported.
  public func export(room: String?, write: ([UInt8]) throws -> Void) throws -> StoreCount {
    let count = try exportRooms(room, write)
    if room == nil {
      try Self.explaining {
        try accounts(creating: false, isReadOnly: true)?.forEach {
          try write(AccountLine($0).bytes)
        }
      }
    }
    return count
  }

  private func exportRooms(
    _ room: String?, _ write: ([UInt8]) throws -> Void
  ) throws -> StoreCount {
    switch self {
    case .sqlite(let folder):
      try Store.export(folder: folder, room: room, write: write)
    case .postgresql(let configuration):
      try Self.explaining {
        try Maintenance.export(
          url: configuration.log.url, options: .init(configuration), room: room, write: write)
      }
    }
  }

  /// See `Store.import`. Accounts are added as well.
  public func `import`(
    report: (String) -> Void, nextLine: () throws -> [UInt8]?
  ) throws -> StoreCount {
    var accounts: [Account] = []
    let count = try importRooms(report) {
      while let line = try nextLine() {
        do throws(AccountLine.Malformed) {
          guard let account = try AccountLine(decoding: line) else { return line }
          accounts.append(account.account)
        } catch {
          throw StoreError(
            .configuration, "An account cannot be imported: \(error.reason). Nothing was imported.")
        }
      }
      // While the import of the rooms can still be given up.
      if !accounts.isEmpty {
        try Self.explaining { try self.accounts(creating: true)?.check(accounts) }
      }
      return nil
    }
    if !accounts.isEmpty {
      try Self.explaining { try self.accounts(creating: true)?.add(accounts) }
    }
    if case .sqlite(let folder) = self {
      let missing = try Self.missingFileCount(dataFolder: folder)
      if missing > 0 {
        report(
          "\(folder)/files lacks \(missing.counted("content")) of files: an export has no bytes of files. "
            + "Copy the folder files of the relay that was exported there; what is there already can stay."
        )
      }
    }
    return count
  }

  /// Opens the accounts beside the log.
  /// - Parameters:
  ///   - creating: whether they are created if there are none; otherwise the result is `nil`.
  ///   - isReadOnly: whether nothing is changed; used in a folder.
  func accounts(
    creating: Bool, isReadOnly: Bool = false
  ) throws(AccountError) -> SQLAccountStore? {
    switch self {
    case .sqlite(let folder):
      guard creating || Configuration.hasAccountsFile(in: folder) else { return nil }
      return try SQLAccountStore.sqlite(
        path: "\(folder)/\(Configuration.accountsFile)", isReadOnly: isReadOnly)
    case .postgresql(let configuration):
      let options = PostgresLog.Options(configuration)
      return creating
        ? try SQLAccountStore.postgresql(url: configuration.log.url, options: options)
        : try SQLAccountStore.existing(url: configuration.log.url, options: options)
    }
  }

  private func importRooms(
    _ report: (String) -> Void, _ nextLine: () throws -> [UInt8]?
  ) throws -> StoreCount {
    switch self {
    case .sqlite(let folder):
      try Store.import(folder: folder, report: report, nextLine: nextLine)
    case .postgresql(let configuration):
      try Self.explaining {
        try Maintenance.import(
          url: configuration.log.url, options: .init(configuration), nextLine: nextLine)
      }
    }
  }

  static func explaining<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as AccountError {
      throw StoreError(.environment, error.explanation)
    } catch let error as StoreFailure {
      var sentence = error.description
      if !sentence.hasSuffix(".") { sentence += "." }
      throw StoreError(.environment, sentence.prefix(1).uppercased() + sentence.dropFirst())
    }
  }
}

extension SQLAccountStore {
  /// Calls `body` for each account, in the order of names.
  fileprivate func forEach(_ body: (Account) throws -> Void) throws {
    var last = ""
    while true {
      let page = try accounts(after: last, limit: 500)
      for account in page { try body(account) }
      guard let end = page.last else { return }
      last = end.user
    }
  }

  /// Throws if there is one of the accounts already.
  fileprivate func check(_ accounts: [Account]) throws {
    for account in accounts where try self.account(account.user) != nil {
      throw StoreError(
        .configuration,
        "There is an account \(account.user) already. Nothing was imported.")
    }
  }

  fileprivate func add(_ accounts: [Account]) throws(AccountError) {
    try transaction { () throws(AccountError) in
      for account in accounts {
        try put(account)
        try record(.account, of: account.user, at: WallClock.milliseconds)
      }
    }
  }
}
