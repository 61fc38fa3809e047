/// The tables of accounts, as both databases create them, and their migrations. The names of the types are
/// PostgreSQL's; to SQLite they say which affinity a column has, and what is stored has its own type.
enum AccountSchema {
  /// "RACC", the `PRAGMA application_id` of the file.
  static let applicationID: Int64 = 0x5241_4343

  /// Step *n* migrates from version *n* - 1 to version *n*. A released step never changes; a new
  /// step is appended after it.
  static let steps = [
    [
      """
      CREATE TABLE accounts (
        username text PRIMARY KEY,
        name text NOT NULL,
        issuer text,
        subject text,
        operator bigint NOT NULL,
        disabled bigint NOT NULL,
        created bigint NOT NULL
      )
      """,
      "CREATE UNIQUE INDEX accounts_by_subject ON accounts (issuer, subject)",
      """
      CREATE TABLE account_sessions (
        id text PRIMARY KEY,
        hash bytea NOT NULL UNIQUE,  -- SHA-256 of the token
        username text NOT NULL,
        device text NOT NULL,
        created bigint NOT NULL,
        used bigint NOT NULL,
        address text NOT NULL
      )
      """,
      "CREATE INDEX account_sessions_by_user ON account_sessions (username, used)",
      "CREATE INDEX account_sessions_by_use ON account_sessions (used)",
      """
      CREATE TABLE account_invitations (
        id text PRIMARY KEY,
        hash bytea NOT NULL UNIQUE,  -- SHA-256 of the code
        maker text NOT NULL,  -- empty = the relay
        by_operator bigint NOT NULL,
        makes_operator bigint NOT NULL,
        username text,
        name text,
        rooms text NOT NULL,  -- separated by spaces
        uses bigint NOT NULL,
        used_by text NOT NULL,  -- separated by spaces
        created bigint NOT NULL,
        expires bigint NOT NULL
      )
      """,
      "CREATE INDEX account_invitations_by_maker ON account_invitations (maker, created)",
      """
      CREATE TABLE account_device_codes (
        hash bytea PRIMARY KEY,  -- SHA-256 of the code that the device polls with
        user_hash bytea NOT NULL UNIQUE,  -- SHA-256 of the code that a person types
        device text NOT NULL,
        address text NOT NULL,
        decision text,  -- empty = denied, otherwise the user who has allowed it
        wait bigint NOT NULL,  -- seconds between two polls
        polled bigint NOT NULL,
        expires bigint NOT NULL
      )
      """,
      """
      CREATE TABLE account_attempts (  -- at providers
        hash bytea PRIMARY KEY,  -- SHA-256 of the state
        browser_hash bytea NOT NULL,
        method text NOT NULL,
        verifier text NOT NULL,
        nonce text NOT NULL,
        return_path text NOT NULL,
        expires bigint NOT NULL
      )
      """,
      """
      CREATE TABLE account_changes (  -- what other processes have to follow, without gaps
        number bigint PRIMARY KEY,
        username text NOT NULL,
        session text,  -- the one that has ended; null = the account has changed
        at bigint NOT NULL
      )
      """,
    ],
    ["ALTER TABLE accounts ADD COLUMN picture text"],
    [
      """
      CREATE TABLE account_provider_tokens (  -- what providers are asked with; secrets, never exported
        username text PRIMARY KEY,
        client text NOT NULL,
        token text NOT NULL,
        ask_at bigint NOT NULL,
        failing_since bigint
      )
      """,
      "CREATE INDEX account_provider_tokens_by_time ON account_provider_tokens (ask_at)",
    ],
  ]
}
