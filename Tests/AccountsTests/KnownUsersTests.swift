import Accounts
import PostgresLog
import TestSupport
import Testing

@testable import AccountStores

@Suite struct `Users that the log of PostgreSQL knows` {
  @Test(arguments: [
    // Only written to.
    ("dm:ada:mona", 0, 0, true, false), ("dm:ada:mona", 2, 0, true, true),
    ("dm:ada:mona", 0, 2, true, true), ("general", 0, 0, true, true), (nil, 0, 0, false, false),
  ])
  func `have taken part, or were only written to`(
    room: String?, read: Int64, received: Int64, isKnown: Bool, hasTakenPart: Bool
  ) throws {
    let server = try PostgresServer.shared.get()
    var options = PostgresLog.Options()
    options.schema = server.newSchema()
    options.requiresSync = false
    _ = try Maintenance.migrate(url: server.url, options: options)
    if let room {
      let session = PostgresSession(url: server.url, options: options)
      let insertRoom = SQLStatement("INSERT INTO rooms (number, name) VALUES (1, $1::text)")
      _ = try session.run(insertRoom, [.text(room)], [])
      let insertMember = SQLStatement(
        """
        INSERT INTO members (room, username, read, received, since)
        VALUES (1, 'mona', $1::bigint, $2::bigint, 0)
        """)
      _ = try session.run(insertMember, [.int(read), .int(received)], [])
    }
    #expect(try Maintenance.knows("mona", url: server.url, options: options) == isKnown)
    #expect(
      try Maintenance.knows("mona", byTakingPart: true, url: server.url, options: options)
        == hasTakenPart)
  }
}
