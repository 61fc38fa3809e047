package import Accounts

/// What is under way: codes of devices, attempts at providers, and the tokens that providers are asked with.
extension SQLAccountStore {
  // MARK: - Codes of devices

  private static let codeColumns =
    "hash, user_hash, device, address, decision, wait, polled, expires"
  private static let selectCode = SQLStatement(
    "SELECT \(codeColumns) FROM account_device_codes WHERE hash = $1::bytea")
  private static let selectUserCode = SQLStatement(
    "SELECT \(codeColumns) FROM account_device_codes WHERE user_hash = $1::bytea")
  private static let countCodes = SQLStatement("SELECT count(*) FROM account_device_codes")
  private static let upsertCode = SQLStatement(
    """
    INSERT INTO account_device_codes (\(codeColumns)) VALUES
      ($1::bytea, $2::bytea, $3::text, $4::text, $5::text, $6::bigint, $7::bigint, $8::bigint)
    ON CONFLICT (hash) DO UPDATE SET
      decision = excluded.decision, wait = excluded.wait, polled = excluded.polled
    """)
  private static let deleteCode = SQLStatement(
    "DELETE FROM account_device_codes WHERE hash = $1::bytea")

  private func codes(
    _ statement: SQLStatement, _ hash: SecretHash
  ) throws(AccountError) -> [DeviceCode] {
    let columns: [SQLColumn] = [.bytes, .bytes, .text, .text, .text, .int, .int, .int]
    return try session.run(statement, [SQLValue(hash)], columns).compactMap { row in
      guard let hash = row[0].hash, let userHash = row[1].hash else { return nil }
      var code = DeviceCode(
        hash: hash, userHash: userHash, device: row[2].text, address: row[3].text,
        intervalSeconds: Int(row[5].int), polledAt: row[6].int, expiresAt: row[7].int)
      if let decision = row[4].optionalText {
        code.decision = decision.isEmpty ? .denied : .allowed(decision)
      }
      return code
    }
  }

  package func deviceCode(_ hash: SecretHash) throws(AccountError) -> DeviceCode? {
    try codes(Self.selectCode, hash).first
  }

  package func deviceCode(user hash: SecretHash) throws(AccountError) -> DeviceCode? {
    try codes(Self.selectUserCode, hash).first
  }

  package func deviceCodeCount() throws(AccountError) -> Int {
    Int(try run(Self.countCodes, columns: [.int])[0][0].int)
  }

  package func put(_ code: DeviceCode) throws(AccountError) {
    let decision: SQLValue =
      switch code.decision {
      case .pending: .null
      case .denied: .text("")
      case .allowed(let user): .text(user)
      }
    _ = try run(
      Self.upsertCode, SQLValue(code.hash), SQLValue(code.userHash), .text(code.device),
      .text(code.address), decision, .int(Int64(code.intervalSeconds)), .int(code.polledAt),
      .int(code.expiresAt))
  }

  package func removeDeviceCode(_ hash: SecretHash) throws(AccountError) {
    _ = try run(Self.deleteCode, SQLValue(hash))
  }

  // MARK: - Attempts at providers

  private static let countAttempts = SQLStatement("SELECT count(*) FROM account_attempts")
  private static let insertAttempt = SQLStatement(
    """
    INSERT INTO account_attempts
      (hash, browser_hash, method, verifier, nonce, return_path, expires)
    VALUES ($1::bytea, $2::bytea, $3::text, $4::text, $5::text, $6::text, $7::bigint)
    """)
  private static let removeOldestAttempt = SQLStatement(
    """
    DELETE FROM account_attempts WHERE hash = (
      SELECT hash FROM account_attempts ORDER BY expires LIMIT 1)
    """)
  private static let takeAttempt = SQLStatement(
    """
    DELETE FROM account_attempts WHERE hash = $1::bytea
    RETURNING browser_hash, method, verifier, nonce, return_path, expires
    """)

  package func attemptCount() throws(AccountError) -> Int {
    Int(try run(Self.countAttempts, columns: [.int])[0][0].int)
  }

  package func add(_ attempt: SignInAttempt) throws(AccountError) {
    _ = try run(
      Self.insertAttempt, SQLValue(attempt.hash), SQLValue(attempt.browserHash),
      .text(attempt.method), .text(attempt.verifier), .text(attempt.nonce),
      .text(attempt.returnPath), .int(attempt.expiresAt))
  }

  package func removeOldestAttempt() throws(AccountError) {
    _ = try run(Self.removeOldestAttempt)
  }

  package func takeAttempt(_ hash: SecretHash) throws(AccountError) -> SignInAttempt? {
    let rows = try run(
      Self.takeAttempt, SQLValue(hash), columns: [.bytes, .text, .text, .text, .text, .int])
    guard let row = rows.first, let browserHash = row[0].hash else { return nil }
    return SignInAttempt(
      hash: hash, browserHash: browserHash, method: row[1].text, verifier: row[2].text,
      nonce: row[3].text, returnPath: row[4].text, expiresAt: row[5].int)
  }

  // MARK: - Tokens of providers

  private static let tokenColumns = "username, client, token, ask_at, failing_since"
  private static let selectToken = SQLStatement(
    "SELECT \(tokenColumns) FROM account_provider_tokens WHERE username = $1::text")
  private static let selectDueToken = SQLStatement(
    """
    SELECT \(tokenColumns) FROM account_provider_tokens WHERE ask_at <= $1::bigint
    ORDER BY ask_at LIMIT 1
    """)
  private static let upsertToken = SQLStatement(
    """
    INSERT INTO account_provider_tokens (\(tokenColumns)) VALUES
      ($1::text, $2::text, $3::text, $4::bigint, $5::bigint)
    ON CONFLICT (username) DO UPDATE SET client = excluded.client, token = excluded.token,
      ask_at = excluded.ask_at, failing_since = excluded.failing_since
    """)
  private static let deleteToken = SQLStatement(
    "DELETE FROM account_provider_tokens WHERE username = $1::text")

  private func token(
    _ statement: SQLStatement, _ value: SQLValue
  ) throws(AccountError) -> ProviderToken? {
    try run(statement, value, columns: [.text, .text, .text, .int, .int]).first.map { row in
      ProviderToken(
        user: row[0].text, clientID: row[1].text, token: row[2].text, askAt: row[3].int,
        failingSince: row[4].optionalInt)
    }
  }

  package func providerToken(dueAt now: Int64) throws(AccountError) -> ProviderToken? {
    try token(Self.selectDueToken, .int(now))
  }

  package func providerToken(of user: String) throws(AccountError) -> ProviderToken? {
    try token(Self.selectToken, .text(user))
  }

  package func put(_ token: ProviderToken) throws(AccountError) {
    _ = try run(
      Self.upsertToken, .text(token.user), .text(token.clientID), .text(token.token),
      .int(token.askAt), token.failingSince.map { .int($0) } ?? .null)
  }

  package func removeProviderToken(of user: String) throws(AccountError) {
    _ = try run(Self.deleteToken, .text(user))
  }

  // MARK: - The end of an account

  private static let removals = [
    "DELETE FROM account_device_codes WHERE decision = $1::text",
    "DELETE FROM account_provider_tokens WHERE username = $1::text",
    "DELETE FROM accounts WHERE username = $1::text",
  ].map { SQLStatement($0) }

  package func removeAccount(_ user: String) throws(AccountError) {
    for statement in Self.removals { _ = try run(statement, .text(user)) }
  }

  package func eraseLog() throws(AccountError) { try session.eraseLog() }

  // MARK: - What a user has promised others

  private static let deleteInvitations = SQLStatement(
    "DELETE FROM account_invitations WHERE maker = $1::text")
  private static let denyCodes = SQLStatement(
    "UPDATE account_device_codes SET decision = '' WHERE decision = $1::text")

  package func denyCodes(allowedBy user: String) throws(AccountError) {
    _ = try run(Self.denyCodes, .text(user))
  }

  package func withdrawPromises(of user: String) throws(AccountError) {
    _ = try run(Self.deleteInvitations, .text(user))
    try denyCodes(allowedBy: user)
  }
}
