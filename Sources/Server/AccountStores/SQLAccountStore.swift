package import Accounts
package import PostgresLog

/// The store of accounts in SQLite or PostgreSQL. Confined to one thread; other processes may use the same
/// one.
package final class SQLAccountStore: AccountStore {
  let session: any SQLSession

  private init(_ session: any SQLSession) { self.session = session }

  /// Opens the file of accounts, and creates it if it is missing.
  /// - Parameters:
  ///   - path: `nil` = in memory.
  ///   - isReadOnly: whether the file is neither created nor changed.
  package static func sqlite(
    path: String?, isReadOnly: Bool = false
  ) throws(AccountError) -> SQLAccountStore {
    SQLAccountStore(try SQLiteSession(path: path, isReadOnly: isReadOnly))
  }

  /// Connects, and creates the tables if they are missing.
  package static func postgresql(
    url: String, options: PostgresLog.Options
  ) throws(AccountError) -> SQLAccountStore {
    let session = PostgresSession(url: url, options: options)
    try session.migrate()
    return SQLAccountStore(session)
  }

  /// Connects; `nil` if there are no tables of accounts.
  package static func existing(
    url: String, options: PostgresLog.Options
  ) throws(AccountError) -> SQLAccountStore? {
    let session = PostgresSession(url: url, options: options)
    guard try session.hasTables else { return nil }
    try session.migrate()
    return SQLAccountStore(session)
  }

  package func transaction<Result>(
    _ body: () throws(AccountError) -> Result
  ) throws(AccountError) -> Result {
    try session.transaction(body)
  }

  /// Runs a statement.
  func run(
    _ statement: SQLStatement, _ values: SQLValue..., columns: [SQLColumn] = []
  ) throws(AccountError) -> [[SQLValue]] {
    try session.run(statement, values, columns)
  }

  // MARK: - Accounts

  private static let accountColumns =
    "username, name, issuer, subject, operator, disabled, created, picture"
  private static let selectAccount = SQLStatement(
    "SELECT \(accountColumns) FROM accounts WHERE username = $1::text")
  private static let selectBoundAccount = SQLStatement(
    "SELECT \(accountColumns) FROM accounts WHERE issuer = $1::text AND subject = $2::text")
  private static let selectAccounts = SQLStatement(
    """
    SELECT \(accountColumns) FROM accounts WHERE username > $1::text
    ORDER BY username LIMIT $2::bigint
    """)
  private static let selectOperators = SQLStatement(
    "SELECT count(*) FROM accounts WHERE operator = 1 AND disabled = 0")
  private static let upsertAccount = SQLStatement(
    """
    INSERT INTO accounts (\(accountColumns)) VALUES
      ($1::text, $2::text, $3::text, $4::text, $5::bigint, $6::bigint, $7::bigint,
      $8::text)
    ON CONFLICT (username) DO UPDATE SET name = excluded.name, issuer = excluded.issuer,
      subject = excluded.subject, operator = excluded.operator, disabled = excluded.disabled,
      picture = excluded.picture
    """)

  private func accounts(
    _ statement: SQLStatement, _ values: [SQLValue]
  ) throws(AccountError) -> [Account] {
    let columns: [SQLColumn] = [.text, .text, .text, .text, .int, .int, .int, .text]
    return try session.run(statement, values, columns).map { row in
      var binding: ProviderBinding?
      if let issuer = row[2].optionalText, let subject = row[3].optionalText {
        binding = ProviderBinding(issuer: issuer, subject: subject)
      }
      return Account(
        user: row[0].text, name: row[1].text, binding: binding, picture: row[7].optionalText,
        isOperator: row[4].flag, isDisabled: row[5].flag, createdAt: row[6].int)
    }
  }

  package func account(_ user: String) throws(AccountError) -> Account? {
    try accounts(Self.selectAccount, [.text(user)]).first
  }

  package func account(_ binding: ProviderBinding) throws(AccountError) -> Account? {
    try accounts(Self.selectBoundAccount, [.text(binding.issuer), .text(binding.subject)]).first
  }

  package func accounts(after user: String, limit: Int) throws(AccountError) -> [Account] {
    try accounts(Self.selectAccounts, [.text(user), .int(Int64(limit))])
  }

  package func operatorCount() throws(AccountError) -> Int {
    Int(try run(Self.selectOperators, columns: [.int])[0][0].int)
  }

  package func put(_ account: Account) throws(AccountError) {
    _ = try run(
      Self.upsertAccount, .text(account.user), .text(account.name),
      SQLValue(account.binding?.issuer), SQLValue(account.binding?.subject),
      SQLValue(account.isOperator), SQLValue(account.isDisabled), .int(account.createdAt),
      SQLValue(account.picture))
  }

  // MARK: - Sessions

  private static let sessionColumns = "id, hash, username, device, created, used, address"
  private static let selectSession = SQLStatement(
    "SELECT \(sessionColumns) FROM account_sessions WHERE hash = $1::bytea")
  private static let selectSessions = SQLStatement(
    """
    SELECT \(sessionColumns) FROM account_sessions WHERE username = $1::text
    ORDER BY used DESC, created DESC, id
    """)
  private static let selectUnusedSessions = SQLStatement(
    """
    SELECT \(sessionColumns) FROM account_sessions WHERE used < $1::bigint
    ORDER BY used LIMIT $2::bigint
    """)
  private static let insertSession = SQLStatement(
    """
    INSERT INTO account_sessions (\(sessionColumns)) VALUES
      ($1::text, $2::bytea, $3::text, $4::text, $5::bigint, $6::bigint, $7::text)
    """)
  private static let updateSession = SQLStatement(
    """
    UPDATE account_sessions SET used = $1::bigint, address = coalesce($2::text, address)
    WHERE id = $3::text
    """)
  private static let deleteSession = SQLStatement(
    "DELETE FROM account_sessions WHERE id = $1::text")

  private func sessions(
    _ statement: SQLStatement, _ values: [SQLValue]
  ) throws(AccountError) -> [DeviceSession] {
    let columns: [SQLColumn] = [.text, .bytes, .text, .text, .int, .int, .text]
    return try session.run(statement, values, columns).compactMap { row in
      row[1].hash.map {
        DeviceSession(
          id: row[0].text, hash: $0, user: row[2].text, device: row[3].text,
          createdAt: row[4].int, usedAt: row[5].int, address: row[6].text)
      }
    }
  }

  package func session(_ hash: SecretHash) throws(AccountError) -> DeviceSession? {
    try sessions(Self.selectSession, [SQLValue(hash)]).first
  }

  package func sessions(of user: String) throws(AccountError) -> [DeviceSession] {
    try sessions(Self.selectSessions, [.text(user)])
  }

  package func sessions(
    unusedSince time: Int64, limit: Int
  ) throws(AccountError) -> [DeviceSession] {
    try sessions(Self.selectUnusedSessions, [.int(time), .int(Int64(limit))])
  }

  package func add(_ session: DeviceSession) throws(AccountError) {
    _ = try run(
      Self.insertSession, .text(session.id), SQLValue(session.hash), .text(session.user),
      .text(session.device), .int(session.createdAt), .int(session.usedAt), .text(session.address))
  }

  package func use(_ id: String, at: Int64, from address: String?) throws(AccountError) {
    _ = try run(Self.updateSession, .int(at), SQLValue(address), .text(id))
  }

  package func removeSession(_ id: String) throws(AccountError) {
    _ = try run(Self.deleteSession, .text(id))
  }

  // MARK: - Invitations

  private static let invitationColumns = """
    id, hash, maker, by_operator, makes_operator, username, name, rooms, uses, used_by, created, \
    expires
    """
  private static let selectInvitation = SQLStatement(
    "SELECT \(invitationColumns) FROM account_invitations WHERE hash = $1::bytea")
  private static let selectInvitations = SQLStatement(
    """
    SELECT \(invitationColumns) FROM account_invitations WHERE maker = $1::text
    ORDER BY created DESC, id
    """)
  private static let upsertInvitation = SQLStatement(
    """
    INSERT INTO account_invitations (\(invitationColumns)) VALUES
      ($1::text, $2::bytea, $3::text, $4::bigint, $5::bigint, $6::text, $7::text, $8::text,
      $9::bigint, $10::text, $11::bigint, $12::bigint)
    ON CONFLICT (id) DO UPDATE SET used_by = excluded.used_by
    """)
  /// Whether an invitation can be opened: in time, and by fewer users so far than it is for.
  private static let isOpen = """
    expires > $2::bigint
    AND (CASE used_by WHEN '' THEN 0 ELSE length(used_by) - length(replace(used_by, ' ', '')) + 1 END)
      < uses
    """
  private static let countOpenInvitations = SQLStatement(
    "SELECT count(*) FROM account_invitations WHERE maker = $1::text AND \(isOpen)")
  private static let trimInvitations = SQLStatement(
    """
    DELETE FROM account_invitations WHERE id IN (
      SELECT id FROM account_invitations WHERE maker = $1::text AND NOT (\(isOpen))
      ORDER BY created DESC, id LIMIT 1000 OFFSET $3::bigint)
    """)
  private static let deleteInvitation = SQLStatement(
    "DELETE FROM account_invitations WHERE id = $1::text")

  private func invitations(
    _ statement: SQLStatement, _ value: SQLValue
  ) throws(AccountError) -> [Invitation] {
    let columns: [SQLColumn] = [
      .text, .bytes, .text, .int, .int, .text, .text, .text, .int, .text, .int, .int,
    ]
    return try session.run(statement, [value], columns).compactMap { row in
      row[1].hash.map {
        Invitation(
          id: row[0].text, hash: $0, by: row[2].text, isByOperator: row[3].flag,
          makesOperator: row[4].flag, user: row[5].optionalText, name: row[6].optionalText,
          rooms: row[7].names, uses: Int(row[8].int), usedBy: row[9].names,
          createdAt: row[10].int, expiresAt: row[11].int)
      }
    }
  }

  package func invitation(_ hash: SecretHash) throws(AccountError) -> Invitation? {
    try invitations(Self.selectInvitation, SQLValue(hash)).first
  }

  package func openInvitationCount(
    of user: String, _ now: Int64
  ) throws(AccountError) -> Int {
    Int(try run(Self.countOpenInvitations, .text(user), .int(now), columns: [.int])[0][0].int)
  }

  package func trimInvitations(
    of user: String, to limit: Int, _ now: Int64
  ) throws(AccountError) {
    _ = try run(Self.trimInvitations, .text(user), .int(now), .int(Int64(limit)))
  }

  package func invitations(by user: String) throws(AccountError) -> [Invitation] {
    try invitations(Self.selectInvitations, .text(user))
  }

  package func put(_ invitation: Invitation) throws(AccountError) {
    _ = try run(
      Self.upsertInvitation, .text(invitation.id), SQLValue(invitation.hash), .text(invitation.by),
      SQLValue(invitation.isByOperator), SQLValue(invitation.makesOperator),
      SQLValue(invitation.user), SQLValue(invitation.name),
      .text(invitation.rooms.joined(separator: " ")), .int(Int64(invitation.uses)),
      .text(invitation.usedBy.joined(separator: " ")), .int(invitation.createdAt),
      .int(invitation.expiresAt))
  }

  package func removeInvitation(_ id: String) throws(AccountError) {
    _ = try run(Self.deleteInvitation, .text(id))
  }

  // MARK: - Changes

  private static let insertChange = SQLStatement(
    """
    INSERT INTO account_changes (number, username, session, at)
    SELECT coalesce(max(number), 0) + 1, $1::text, $2::text, $3::bigint FROM account_changes
    """)
  private static let selectChanges = SQLStatement(
    """
    SELECT number, username, session FROM account_changes WHERE number > $1::bigint
    ORDER BY number LIMIT $2::bigint
    """)
  private static let selectLastChange = SQLStatement(
    "SELECT coalesce(max(number), 0) FROM account_changes")

  package func record(
    _ change: AccountChange.Kind, of user: String, at: Int64
  ) throws(AccountError) {
    var session: String?
    if case .ended(let id) = change { session = id }
    _ = try run(Self.insertChange, .text(user), SQLValue(session), .int(at))
  }

  package func changes(after number: Int64, limit: Int) throws(AccountError) -> [AccountChange] {
    try run(
      Self.selectChanges, .int(number), .int(Int64(limit)), columns: [.int, .text, .text]
    ).map { row in
      AccountChange(
        number: row[0].int, kind: row[2].optionalText.map { .ended(session: $0) } ?? .account,
        user: row[1].text)
    }
  }

  package func lastChange() throws(AccountError) -> Int64 {
    try run(Self.selectLastChange, columns: [.int])[0][0].int
  }

  /// The last change stays, so that the numbers go on.
  private static let purges = [
    SQLStatement(
      """
      DELETE FROM account_changes WHERE at < $1::bigint AND number IN (
        SELECT number FROM account_changes
        WHERE number < (SELECT max(number) FROM account_changes) ORDER BY number LIMIT 5000)
      """),
    SQLStatement("DELETE FROM account_invitations WHERE expires < $1::bigint"),
  ]
  private static let purgesOfExpired = [
    SQLStatement("DELETE FROM account_device_codes WHERE expires < $1::bigint"),
    SQLStatement("DELETE FROM account_attempts WHERE expires < $1::bigint"),
  ]

  package func purge(now: Int64, keepMilliseconds: Int64) throws(AccountError) {
    for statement in Self.purges { _ = try run(statement, .int(now - keepMilliseconds)) }
    for statement in Self.purgesOfExpired { _ = try run(statement, .int(now)) }
  }
}
