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

  /// See `Store.verify`.
  public func verify() throws -> StoreVerification {
    switch self {
    case .sqlite(let folder): try Store.verify(folder: folder)
    case .postgresql(let configuration):
      try Self.explaining {
        try Maintenance.verify(url: configuration.log.url, options: .init(configuration))
      }
    }
  }

  /// See `Store.export`.
  public func export(room: String?, write: ([UInt8]) throws -> Void) throws -> StoreCount {
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

  /// See `Store.import`.
  public func `import`(
    report: (String) -> Void, nextLine: () throws -> [UInt8]?
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

  private static func explaining<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as StoreFailure {
      var sentence = error.description
      if !sentence.hasSuffix(".") { sentence += "." }
      throw StoreError(.environment, sentence.prefix(1).uppercased() + sentence.dropFirst())
    }
  }
}
