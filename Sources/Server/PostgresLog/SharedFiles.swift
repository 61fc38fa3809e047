package import Postgres
package import Relay

/// What a log in PostgreSQL knows of files, read beside relays: no transaction is open for long.
package struct SharedFiles: FileReading {
  private static let hashesAtOnce = 256

  private let connection: PostgresConnection

  package init(url: String, options: PostgresLog.Options) throws(StoreFailure) {
    connection = try Maintenance.attempt("read files") { () throws(PostgresError) in
      try Maintenance.connect(
        Connector(url: url, schema: options.schema, onlyReads: true), "files")
    }
  }

  package func read(_ call: PostgresCall) throws(StoreFailure) -> PostgresRows {
    try Maintenance.attempt("read files") { () throws(PostgresError) in
      try connection.run(call)[0]
    }
  }

  /// Calls `body` with each hash that a file has, or a thumbnail, and such a file.
  package func forEach(
    _ body: (_ hash: String, _ file: String, _ isThumbnail: Bool) throws -> Void
  ) throws {
    for (statement, isThumbnail) in [(Self.selectHashes, false), (Self.selectThumbnails, true)] {
      var last = ""
      while true {
        let rows = try read(statement(.text(last)))
        if rows.isEmpty { break }
        for row in 0..<rows.count {
          last = rows.text(row, 0)
          try body(last, rows.text(row, 1), isThumbnail)
        }
      }
    }
  }

  /// Returns the files that a user has uploaded and not sent.
  package func unsent(of user: String) throws(StoreFailure) -> [String] {
    let rows = try read(Self.selectUnsent(.text(user)))
    return (0..<rows.count).map { rows.text($0, 0) }
  }

  private static let selectHashes = select("hash")
  private static let selectThumbnails = select("thumbnail")

  private static func select(_ column: String) -> PostgresStatement {
    PostgresStatement(
      "select_each_\(column)",
      """
      SELECT \(column), min(id) FROM files WHERE \(column) > $1::text AND \(column) <> ''
      GROUP BY \(column) ORDER BY \(column) LIMIT \(hashesAtOnce)
      """)
  }

  private static let selectUnsent = PostgresStatement(
    once: "SELECT id FROM files WHERE owner = $1::text AND NOT sent")
}
