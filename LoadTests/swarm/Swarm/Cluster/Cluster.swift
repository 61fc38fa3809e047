internal import Platform

/// The relays that a run has started, and the PostgreSQL that they share, if they do.
final class Cluster {
  /// Never empty.
  let relays: [SpawnedRelay]
  let database: Database?
  private let databaseFolder: RelayFolder?
  private let links: LinkProxy?

  /// Starts everything, and waits until the relays listen.
  ///
  /// - Parameters:
  ///   - losesPower: Whether to record the relay's writes and syncs.
  ///   - hasFaults: Whether the relays' connections to PostgreSQL can be disturbed; otherwise they
  ///     are direct, which costs nothing.
  ///   - interruption: A descriptor that becomes readable when the start is to be abandoned.
  init(
    _ spawn: Scenario.Spawn, losesPower: Bool = false, hasFaults: Bool = false,
    interruption: Int32? = nil
  ) throws {
    var urls: [String?] = [nil]
    if let standby = spawn.postgresql {
      // First: its disk must be mounted before there are threads.
      let folder = try RelayFolder(configuration: "", diskBytes: spawn.diskBytes)
      databaseFolder = folder
      let numbers = Database.ports.prefix(standby == .none ? 1 : 2)
      let sockets = numbers.map { "\(folder.path)/.s.PGSQL.\($0)" }
      let count = hasFaults ? spawn.relays : 0
      let events = try Mailbox<Database.Event>()
      let links = try LinkProxy(
        to: (0..<count).flatMap { _ in sockets } + [sockets[0]],
        note: { events.post(.mark($0)) })
      self.links = links
      do {
        database = try Database(standby, in: folder, links: links, events: events)
      } catch {
        links.end()
        throw error
      }
      urls = (0..<spawn.relays).map { relay in
        let servers = sockets.indices.map { server -> (host: String, port: UInt16) in
          hasFaults
            ? ("127.0.0.1", links.ports[relay * sockets.count + server])
            : (folder.path, Database.ports[server])
        }
        return "host=\(servers.map(\.host).joined(separator: ","))"
          + " port=\(servers.map { "\($0.port)" }.joined(separator: ","))"
          + " user=relay dbname=postgres"
      }
    } else {
      (database, databaseFolder, links) = (nil, nil, nil)
    }
    serversPerRelay =
      spawn.postgresql == nil ? 0 : spawn.postgresql == Scenario.Standby.none ? 1 : 2
    do {
      relays = try urls.enumerated().map { index, url in
        try SpawnedRelay(
          spawn, losesPower: losesPower, log: url,
          clockOffsetSeconds: index < spawn.clockOffsetsSeconds.count
            ? spawn.clockOffsetsSeconds[index] : 0, interruption: interruption)
      }
    } catch {
      database?.end()
      links?.end()
      throw error
    }
  }

  private let serversPerRelay: Int

  deinit {
    for relay in relays { relay.kill() }
    database?.end()
    links?.end()
  }

  /// Disturbs the connections between a relay and PostgreSQL.
  func perform(_ fault: Scenario.LinkFault, on relay: Int) {
    let first = relay * serversPerRelay
    links?.perform(fault, on: Array(first..<first + serversPerRelay))
  }

  /// The disk that `fill_disk` fills: the one of the log.
  private func onDisk(_ body: (RelayFolder) throws -> Void, orElse: () throws -> Void) rethrows {
    if let databaseFolder { try body(databaseFolder) } else { try orElse() }
  }

  func fillDisk() throws {
    try onDisk {
      try $0.fillDisk()
    } orElse: {
      try relays[0].fillDisk()
    }
  }

  func keepDiskFull() throws {
    try onDisk {
      try $0.keepDiskFull()
    } orElse: {
      try relays[0].keepDiskFull()
    }
  }

  func freeDisk() throws {
    try onDisk {
      try $0.freeDisk()
    } orElse: {
      try relays[0].freeDisk()
    }
  }

  /// The CPU time of all relays.
  var cpuSeconds: Double { relays.reduce(0) { $0 + $1.cpuSeconds } }

  /// The resident memory of the relays that run; `nil` if none does.
  var residentBytes: Int? {
    let sizes = relays.compactMap(\.residentBytes)
    return sizes.isEmpty ? nil : sizes.reduce(0, +)
  }

  var lastOutput: String { relays.map(\.lastOutput).joined(separator: "\n") }
}
