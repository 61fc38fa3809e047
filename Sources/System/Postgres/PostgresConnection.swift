internal import CPostgres
internal import Glibc

/// A connection to a PostgreSQL server, over libpq. Its calls block. Used by one thread at a time.
@safe package final class PostgresConnection {
  private let connection: OpaquePointer
  private var prepared: Set<String> = []
  /// Where libpq counts warnings.
  private let warnings: UnsafeMutablePointer<Int32>
  /// Whether the server warned while it carried out the last call of `run`: a `COMMIT` that did not
  /// wait for a standby succeeds with a warning.
  package private(set) var lastCallWarned = false

  /// The number of the server's version, such as 150014 for 15.14.
  package var serverVersion: Int { Int(unsafe cpostgres_server_version(connection)) }

  /// A server that has sent nothing for so long is taken for lost; `nil` = it is waited for.
  private let answerMilliseconds: Int32?

  /// Connects.
  /// - Parameters:
  ///   - url: a connection URI or string, as libpq takes it; it may name several hosts.
  ///   - options: further parameters. What the URL says replaces them.
  ///   - answerMilliseconds: a server that has sent nothing for so long is taken for lost, whatever
  ///     the network says; `nil` = it is waited for.
  package init(
    _ url: String, options: [(String, String)] = [], answerMilliseconds: Int32? = nil
  ) throws(PostgresError) {
    self.answerMilliseconds = answerMilliseconds
    if let reason = unsafe cpostgres_load() {
      throw PostgresError(
        "libpq could not be loaded: \(unsafe String(cString: reason)). "
          + "On Debian: apt-get install libpq5", isConnectionLost: true, isTransient: false)
    }
    if let problem = ConnectionString.problem(url) {
      throw PostgresError(
        "libpq cannot read the connection string: \(problem)", isConnectionLost: true,
        isTransient: false)
    }
    // A later value replaces an earlier one, and `dbname` is expanded in its place.
    let parameters = options + [("dbname", url)]
    let keywords = unsafe parameters.map { unsafe strdup($0.0) } + [nil]
    let values = unsafe parameters.map { unsafe strdup($0.1) } + [nil]
    defer {
      unsafe keywords.forEach { unsafe free($0) }
      unsafe values.forEach { unsafe free($0) }
    }
    let made = unsafe cpostgres_connect(
      keywords.map { unsafe UnsafePointer($0) }, values.map { unsafe UnsafePointer($0) })
    guard let made = unsafe made else {
      throw PostgresError("out of memory", isConnectionLost: true)
    }
    unsafe connection = made
    unsafe warnings = .allocate(capacity: 1)
    unsafe warnings.initialize(to: 0)
    unsafe cpostgres_count_warnings(made, warnings)
    if !isConnected { try connectAgain() }
    guard unsafe cpostgres_enter_pipeline(made) == 1 else { throw lost() }
  }

  private var isConnected: Bool {
    unsafe Int(cpostgres_status(connection)) == CPOSTGRES_CONNECTION_OK
  }

  /// Finds out the SQLSTATE with which the server has refused to connect, by a second attempt: libpq
  /// tells it in no other way.
  private func connectAgain() throws(PostgresError) {
    var error = lost()
    if unsafe cpostgres_needs_password(connection) != 0 {
      error.isTransient = false
      throw error
    }
    // Two spaces follow the severity in a message of the server, and are in none of libpq's own.
    guard unsafe String(cString: cpostgres_error_message(connection)).contains(":  ") else {
      throw error
    }
    unsafe cpostgres_retry_verbosely(connection)
    guard !isConnected else { return }
    let states = unsafe String(cString: cpostgres_error_message(connection))
      .split(separator: ":  ").dropFirst().map { $0.prefix { $0 != ":" } }
    let state = states.last {
      $0.utf8.count == 5 && $0.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
    }
    throw PostgresError(
      error.message, sqlState: state.map(String.init), isConnectionLost: true)
  }

  deinit {
    unsafe cpostgres_finish(connection)
    unsafe warnings.deallocate()
  }

  /// Sends statements in one round trip, and returns their rows. If one fails, those after it are
  /// not carried out; an open transaction then has to be rolled back.
  @discardableResult
  package func run(_ calls: PostgresCall...) throws(PostgresError) -> [PostgresRows] {
    try run(calls)
  }

  /// See `run`.
  @discardableResult
  package func run(_ calls: [PostgresCall]) throws(PostgresError) -> [PostgresRows] {
    // What each result, in the order of sending, belongs to: the preparation of a statement, or `nil`
    // for a call.
    var preparations: [String?] = []
    for call in calls {
      let name = call.statement.name
      if !name.isEmpty, !prepared.contains(name), !preparations.contains(name) {
        guard unsafe cpostgres_send_prepare(connection, name, call.statement.sql) == 1 else {
          throw lost()
        }
        preparations.append(name)
      }
      try send(call)
      preparations.append(nil)
    }
    guard unsafe cpostgres_pipeline_sync(connection) == 1 else { throw lost() }
    var rows: [PostgresRows] = []
    var failure: PostgresError?
    for preparation in preparations {
      // What is sent before a result is processed with it.
      unsafe warnings.pointee = 0
      do throws(PostgresError) {
        let result = try nextResult()
        if let preparation { prepared.insert(preparation) } else { rows.append(result) }
      } catch {
        if error.isConnectionLost { throw error }
        if failure == nil { failure = error }
      }
    }
    lastCallWarned = unsafe warnings.pointee > 0
    // The answer to the synchronization.
    guard let end = unsafe cpostgres_next_result(connection) else { throw lost() }
    unsafe cpostgres_clear(end)
    if let failure { throw failure }
    return rows
  }

  private func awaitInput() throws(PostgresError) {
    guard let answerMilliseconds else { return }
    while unsafe cpostgres_is_busy(connection) == 1 {
      var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let count = unsafe poll(&request, 1, answerMilliseconds)
      if count == 0 {
        throw PostgresError(
          "the server has not answered for \(answerMilliseconds / 1000) s", isConnectionLost: true)
      }
      guard count > 0 || errno == EINTR, unsafe cpostgres_consume_input(connection) == 1 else {
        throw lost()
      }
    }
  }

  private func send(_ call: PostgresCall) throws(PostgresError) {
    // One buffer for all values: libpq needs a pointer for each.
    var buffer: [UInt8] = []
    buffer.reserveCapacity(call.values.reduce(1) { $0 + ($1.bytes?.count ?? 0) })
    for value in call.values { buffer += value.bytes ?? [] }
    buffer.append(0)
    let count = Int32(call.values.count)
    let name = call.statement.name
    let sql = call.statement.sql
    let wasSent = unsafe buffer.withUnsafeBytes { bytes in
      var pointers: [UnsafePointer<CChar>?] = unsafe []
      var lengths: [Int32] = []
      var start = 0
      for value in call.values {
        let length = value.bytes?.count ?? 0
        unsafe pointers.append(
          value.bytes == nil
            ? nil : bytes.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self))
        lengths.append(Int32(truncatingIfNeeded: length))
        start += length
      }
      return name.isEmpty
        ? unsafe cpostgres_send(connection, sql, count, pointers, lengths)
        : unsafe cpostgres_send_prepared(connection, name, count, pointers, lengths)
    }
    guard wasSent == 1 else { throw lost() }
  }

  /// Returns the result of the next statement, and takes the mark that ends it.
  private func nextResult() throws(PostgresError) -> PostgresRows {
    try awaitInput()
    guard let result = unsafe cpostgres_next_result(connection) else { throw lost() }
    let rows = unsafe PostgresRows(result)
    if let end = unsafe cpostgres_next_result(connection) { unsafe cpostgres_clear(end) }
    let status = Int(unsafe cpostgres_result_status(result))
    if status == CPOSTGRES_COMMAND_OK || status == CPOSTGRES_TUPLES_OK {
      return rows
    }
    if !isConnected { throw lost() }
    func field(_ field: Int) -> String? {
      unsafe cpostgres_result_field(result, Int32(field)).map { unsafe String(cString: $0) }
    }
    let message = field(CPOSTGRES_FIELD_MESSAGE) ?? "an earlier statement has failed"
    throw PostgresError(
      field(CPOSTGRES_FIELD_DETAIL).map { "\(message): \($0)" } ?? message,
      sqlState: field(CPOSTGRES_FIELD_SQLSTATE))
  }

  private func lost() -> PostgresError {
    // libpq explains in several lines, and with a period.
    var message = unsafe String(cString: cpostgres_error_message(connection))
      .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if message.hasSuffix(".") { message.removeLast() }
    return PostgresError(
      message.isEmpty ? "the connection was lost" : message, isConnectionLost: true)
  }

  // MARK: - Notifications

  /// The socket, to wait until it can be read.
  package var descriptor: Int32 { unsafe cpostgres_socket(connection) }

  /// Reads what has arrived, and returns whether notifications were in it.
  package func takeNotifications() throws(PostgresError) -> Bool {
    guard unsafe cpostgres_consume_input(connection) == 1 else { throw lost() }
    var any = false
    while let notification = unsafe cpostgres_notifies(connection) {
      unsafe cpostgres_free(notification)
      any = true
    }
    return any
  }
}
