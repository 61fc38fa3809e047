import AccountStores
import Accounts
import Platform
import PostgresLog
import Relay
import RelayConfiguration
import SQLiteLog

/// What a relay has of one person.
extension StorePlace {
  /// See `Store.person`.
  /// - Parameter samples: receives pieces of the texts, if they are in files.
  func person(
    _ user: String, samples: ContentSamples? = nil, _ body: (PersonRecord) throws -> Void
  ) throws {
    switch self {
    case .sqlite(let folder):
      try Store.person(user, folder: folder, samples: samples, body)
    case .postgresql(let configuration):
      try Self.explaining {
        try Maintenance.person(
          user, url: configuration.log.url, options: .init(configuration), body)
      }
    }
  }

  /// Whether a user has come online, or belongs to a room; see `Store.knows`.
  func knows(_ user: String) throws -> Bool {
    switch self {
    case .sqlite(let folder): try Store.knows(user, folder: folder)
    case .postgresql(let configuration):
      try Self.explaining {
        try Maintenance.knows(
          user, url: configuration.log.url, options: .init(configuration))
      }
    }
  }

  /// Exports all that the relay has of a person as JSON lines: what they have said, what they are in rooms, their
  /// blocks and reports, and their account with its devices. Works while the relay runs.
  /// - Parameters:
  ///   - folder: receives their files, if it is not `nil`.
  ///   - write: receives one line with its line break; an error that it throws ends the export.
  /// - Returns: what was exported, as a phrase.
  public func export(
    person user: String, filesInto folder: String? = nil, write: ([UInt8]) throws -> Void
  ) throws -> String {
    var count = 0
    var files = PersonFiles()
    try person(user) { record in
      files.record(record)
      guard let line = record.line(of: user) else { return }
      try write(line)
      count += 1
    }
    let lines = try Self.explaining {
      try accounts(creating: false, isReadOnly: true)?.lines(of: user) ?? []
    }
    for line in lines { try write(line) }
    count += lines.count
    if count == 0 { throw Self.unknown(user) }
    guard let folder else { return count.counted("line") }
    let copied = try Self.explaining { try copy(files, of: user, into: folder) }
    return "\(count.counted("line")), \(copied.counted("file"))"
  }

  private func copy(_ files: PersonFiles, of user: String, into folder: String) throws -> Int {
    switch self {
    case .sqlite(let dataFolder):
      var known = try StoredFiles(folder: dataFolder)
      let bytes = FolderBytes(folder: FileFolder(inDataFolder: dataFolder))
      return try files.copy(of: user, from: bytes, &known, into: folder)
    case .postgresql(let configuration):
      guard let bytes = try BucketBytes(configuration) else {
        throw StoreError(
          .configuration,
          "The relays keep no files: no bucket is set (files.s3). The lines were written.")
      }
      var known = try SharedFiles(configuration)
      return try files.copy(of: user, from: bytes, &known, into: folder)
    }
  }

  static func unknown(_ user: String) -> StoreError {
    StoreError(
      .configuration,
      "There is nothing of \(user). A user's name is what messages have as \"from\"; relay users lists those "
        + "of accounts.")
  }

  /// Removes the account of a person; see `AccountStore.erase`.
  func eraseAccount(of user: String) throws -> (sessions: Int, invitations: Int)? {
    do throws(AccountError) {
      return try accounts(creating: false)?.erase(user, now: WallClock.milliseconds)
    } catch {
      throw StoreError(.configuration, error.explanation)
    }
  }

  func hasAccount(_ user: String) throws -> Bool {
    try Self.explaining { try accounts(creating: false)?.account(user) != nil }
  }
}
