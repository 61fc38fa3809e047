internal import Postgres

/// The statements of the log.
enum Statements {
  // MARK: - Transactions

  static let beginSnapshot = PostgresStatement(
    "begin_snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
  static let begin = PostgresStatement("begin", "BEGIN")
  static let commit = PostgresStatement("commit", "COMMIT")
  static let rollback = PostgresStatement("rollback", "ROLLBACK")
  /// A commit that no request waits for: typing, presence.
  static let commitsLater = PostgresStatement(
    "commits_later", "SET LOCAL synchronous_commit = off")
  /// Waits for the commit lock. It is a statement of its own: in the one that reads the feed, the
  /// snapshot would be older than the lock.
  static let takeLock = PostgresStatement(
    "take_lock", "SELECT pg_advisory_xact_lock($1::bigint)")
  /// The time in milliseconds since 1970, and the number of the current epoch.
  static let selectTime = PostgresStatement(
    "select_time",
    """
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
      (SELECT number FROM epochs ORDER BY number DESC LIMIT 1)
    """)
  static let selectFeed = PostgresStatement(
    "select_feed",
    """
    SELECT position, node, mark, content FROM feed WHERE position > $1::bigint ORDER BY position
    """)
  static let insertFeed = PostgresStatement(
    "insert_feed",
    """
    INSERT INTO feed (position, node, mark, content)
    VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bytea)
    """)
  static let notify = PostgresStatement("notify", "SELECT pg_notify($1::text, '')")
  static let updateNode = PostgresStatement(
    "update_node",
    """
    UPDATE nodes SET position = $2::bigint, batch = $3::bigint, seen_at = clock_timestamp()
    WHERE number = $1::bigint
    """)
  static let selectGone = PostgresStatement(
    "select_gone",
    """
    SELECT number FROM nodes WHERE seen_at < clock_timestamp() - make_interval(secs => $1::bigint)
    ORDER BY number
    """)

  // MARK: - Nodes

  static let selectSettings = PostgresStatement(
    once: """
      SELECT identity_key, (SELECT coalesce(max(position), 0) FROM feed),
        (SELECT coalesce(max(number), 0) FROM rooms),
        (SELECT mark FROM feed ORDER BY position DESC LIMIT 1)
      FROM settings
      """)
  static let selectMarks = PostgresStatement(
    once: "SELECT position, mark FROM feed WHERE position BETWEEN $1::bigint AND $2::bigint")
  static let selectPosition = PostgresStatement(
    "select_position",
    """
    SELECT coalesce(max(position), 0), (SELECT number FROM epochs ORDER BY number DESC LIMIT 1)
    FROM feed
    """)
  static let selectOldest = PostgresStatement(
    once: "SELECT position FROM feed ORDER BY position LIMIT 1")
  static let insertNode = PostgresStatement(
    once: "INSERT INTO nodes (number, name, position) VALUES ($1::bigint, $2::text, $3::bigint)")
  /// Ends a node at once: for longer than the others wait for one that is silent.
  static let endNode = PostgresStatement(
    once: """
      UPDATE nodes SET seen_at = clock_timestamp() - interval '2 minutes' WHERE number = $1::bigint
      """)
  static let selectNode = PostgresStatement(
    once: "SELECT batch FROM nodes WHERE number = $1::bigint")
  /// The commit of this waits for everything before it.
  static let confirmNode = PostgresStatement(
    "confirm_node",
    "UPDATE nodes SET position = $2::bigint WHERE number = $1::bigint RETURNING batch")
  static let selectStore = PostgresStatement(
    once: "SELECT oid::bigint FROM pg_namespace WHERE nspname = $1::text")

  // MARK: - Entries

  static let selectIdentities = PostgresStatement(
    "select_identities",
    """
    SELECT identity, room, seq, at, sender, id, kind, body FROM entries
    WHERE identity = ANY ($1::bigint[])
      AND seq >= (SELECT first FROM rooms WHERE number = entries.room)
    """)
  private static let columns = "seq, at, sender, id, kind, body"
  static let selectEntry = PostgresStatement(
    "select_entry",
    """
    SELECT \(columns) FROM entries WHERE room = $1::bigint AND seq = $2::bigint
      AND seq >= (SELECT first FROM rooms WHERE number = $1::bigint)
    """)
  static let selectEntries = PostgresStatement(
    "select_entries",
    """
    SELECT \(columns) FROM entries
    WHERE room = $1::bigint AND seq BETWEEN $2::bigint AND $3::bigint ORDER BY seq
    """)
  static let selectLastEdit = PostgresStatement(
    "select_last_edit",
    """
    SELECT \(columns) FROM entries
    WHERE room = $1::bigint AND target = $2::bigint AND kind = 'edit' AND seq <= $3::bigint
    ORDER BY seq DESC LIMIT 1
    """)
  static let countEdits = PostgresStatement(
    "count_edits",
    """
    SELECT count(*) FROM (
      SELECT 1 FROM entries
      WHERE room = $1::bigint AND target = $2::bigint AND kind = 'edit' LIMIT $3::bigint) AS edits
    """)
  static let selectFirstTarget = PostgresStatement(
    "select_first_target",
    """
    SELECT target FROM entries
    WHERE room = $1::bigint AND target BETWEEN $2::bigint AND $3::bigint AND target IS NOT NULL
    ORDER BY target LIMIT 1
    """)
  /// The number of changes up to an entry, or else of all.
  static let countChanges = PostgresStatement(
    "count_changes",
    """
    SELECT coalesce(
      (SELECT number - 1 FROM entries
        WHERE room = $1::bigint AND seq > $2::bigint AND target IS NOT NULL ORDER BY seq LIMIT 1),
      (SELECT number FROM entries
        WHERE room = $1::bigint AND target IS NOT NULL ORDER BY seq DESC LIMIT 1),
      (SELECT changes FROM rooms WHERE number = $1::bigint))
    """)
  /// The runs of content that end with an entry or before it, the newest first.
  static let selectRuns = PostgresStatement(
    "select_runs",
    """
    WITH RECURSIVE kept AS (SELECT first FROM rooms WHERE number = $1::bigint),
    runs (seq, sender, content, depth) AS (
      SELECT run.seq, run.sender, run.content, 1
      FROM entries AS last JOIN entries AS run ON run.room = $1::bigint
        AND run.seq = CASE WHEN last.target IS NULL THEN last.seq ELSE last.content END
      WHERE last.room = $1::bigint AND last.seq = $2::bigint
        AND run.seq >= (SELECT first FROM kept)
      UNION ALL
      SELECT entries.seq, entries.sender, entries.content, depth + 1
      FROM runs JOIN entries ON entries.room = $1::bigint AND entries.seq = runs.content
      WHERE depth < $3::bigint AND entries.seq >= (SELECT first FROM kept))
    SELECT seq, sender, content FROM runs ORDER BY depth
    """)
  static let selectBounds = PostgresStatement(
    "select_bounds",
    """
    SELECT number, first,
      coalesce((SELECT max(seq) FROM entries WHERE room = rooms.number), first - 1),
      \(ruleColumns), directs.state
    FROM rooms LEFT JOIN rules ON rules.room = rooms.number
    LEFT JOIN directs ON directs.room = rooms.number WHERE name = $1::text
    """)
  /// The columns that `PostgresRows.rules` reads.
  private static let ruleColumns = "rules.settings, rules.owners, rules.members, rules.barred"
  static let selectStanding = PostgresStatement(
    "select_standing",
    """
    SELECT role, ban, mute, since, inviter FROM standings WHERE room = $1::bigint AND username = $2::text
    """)
  static let selectBlocks = PostgresStatement(
    "select_blocks", "SELECT username, blocked, at FROM blocks")
  static let selectBans = PostgresStatement(
    "select_bans", "SELECT username, until FROM bans")
  static let selectCopies = PostgresStatement(
    "select_copies",
    """
    SELECT report FROM reports
    WHERE room = $1::bigint AND seq BETWEEN $2::bigint AND $3::bigint AND copied
    """)
  static let selectOldCopies = PostgresStatement(
    "select_old_copies",
    "SELECT report FROM reports WHERE copied AND at < $1::bigint ORDER BY at LIMIT $2::bigint")
  static let selectReports = PostgresStatement(
    "select_reports",
    "SELECT report FROM reports WHERE room = $1::bigint ORDER BY report DESC LIMIT $2::bigint")
  static let selectMemberNames = PostgresStatement(
    "select_member_names",
    "SELECT username FROM members WHERE room = $1::bigint LIMIT $2::bigint")
  private static let notices =
    "FROM entries WHERE room = $1::bigint AND target = 0 AND seq BETWEEN $2::bigint AND $3::bigint"
  static let selectFirstNotice = PostgresStatement(
    "select_first_notice", "SELECT seq \(notices) ORDER BY seq LIMIT 1")
  static let selectLastNotice = PostgresStatement(
    "select_last_notice", "SELECT seq \(notices) ORDER BY seq DESC LIMIT 1")
  static let selectRoomEpochs = PostgresStatement(
    "select_room_epochs",
    """
    SELECT epoch, after,
      coalesce((SELECT max(seq) FROM entries WHERE room = $1::bigint), 0),
      (SELECT first FROM rooms WHERE number = $1::bigint)
    FROM room_epochs WHERE room = $1::bigint ORDER BY epoch
    """)

  // MARK: - Rooms

  /// The state of a room `rooms`: columns 0 to 11.
  private static let roomColumns = """
    rooms.number, rooms.name, rooms.first, last.seq, last.at, last.sender, last.others,
    run.seq, run.sender, run.content, last.content,
    coalesce((SELECT number FROM entries
      WHERE room = rooms.number AND target IS NOT NULL ORDER BY seq DESC LIMIT 1), rooms.changes)
    """
  private static let lastOfRoom = """
    LEFT JOIN LATERAL (
      SELECT seq, at, sender, others, target, content FROM entries
      WHERE room = rooms.number ORDER BY seq DESC LIMIT 1) AS last ON true
    LEFT JOIN entries AS run ON run.room = rooms.number AND run.seq >= rooms.first
      AND run.seq = CASE WHEN last.target IS NULL THEN last.seq ELSE last.content END
    """
  static let selectRooms = PostgresStatement(
    "select_rooms",
    """
    SELECT \(roomColumns), \(ruleColumns), directs.state
    FROM rooms LEFT JOIN rules ON rules.room = rooms.number
    LEFT JOIN directs ON directs.room = rooms.number \(lastOfRoom)
    WHERE rooms.name = ANY ($1::text[])
    """)
  static let selectMembers = PostgresStatement(
    "select_members",
    """
    SELECT room, username, read, received, since
    FROM members JOIN rooms ON rooms.number = members.room WHERE rooms.name = ANY ($1::text[])
    """)
  static let selectMemberships = PostgresStatement(
    "select_memberships",
    """
    SELECT \(roomColumns), members.read, members.received, members.since, directs.state
    FROM members JOIN rooms ON rooms.number = members.room
    LEFT JOIN directs ON directs.room = rooms.number \(lastOfRoom)
    WHERE members.username = $1::text AND members.room > $2::bigint
    ORDER BY members.room LIMIT $3::bigint
    """)
  static let selectMembership = PostgresStatement(
    "select_membership",
    """
    SELECT \(roomColumns), members.read, members.received, members.since, directs.state
    FROM rooms LEFT JOIN members ON members.room = rooms.number AND members.username = $1::text
    LEFT JOIN directs ON directs.room = rooms.number \(lastOfRoom) WHERE rooms.name = $2::text
    """)
  static let countMemberships = PostgresStatement(
    "count_memberships",
    """
    SELECT (SELECT count(*) FROM members WHERE username = $1::text)
      - (SELECT count(*) FROM standings WHERE username = $1::text AND inviter <> '')
      + (SELECT count(*) FROM standings WHERE inviter = $1::text AND inviter <> '')
    """)

  // MARK: - Reactions and users

  /// The different emoji of an entry: each step finds the next one in the index, however many users
  /// give it.
  static let selectEmoji = PostgresStatement(
    "select_emoji",
    """
    WITH RECURSIVE given (emoji) AS (
      (SELECT emoji FROM reactions WHERE room = $1::bigint AND target = $2::bigint
        ORDER BY emoji LIMIT 1)
      UNION ALL
      SELECT (SELECT reactions.emoji FROM reactions
        WHERE room = $1::bigint AND target = $2::bigint AND reactions.emoji > given.emoji
        ORDER BY reactions.emoji LIMIT 1)
      FROM given WHERE given.emoji IS NOT NULL)
    SELECT emoji FROM given WHERE emoji IS NOT NULL LIMIT $3::bigint
    """)
  static let selectOwnEmoji = PostgresStatement(
    "select_own_emoji",
    """
    SELECT emoji FROM reactions
    WHERE room = $1::bigint AND target = $2::bigint AND username = $4::text LIMIT $3::bigint
    """)
  static let selectReactions = PostgresStatement(
    "select_reactions",
    """
    SELECT emoji, users FROM (
      SELECT emoji, count(*) AS users, min(seq) AS first FROM reactions
      WHERE room = $1::bigint AND target = $2::bigint GROUP BY emoji
      ORDER BY emoji LIMIT $3::bigint) AS shown
    ORDER BY first
    """)
  static let selectGivers = PostgresStatement(
    "select_givers",
    """
    SELECT username, seq FROM reactions
    WHERE room = $1::bigint AND target = $2::bigint AND emoji = $3::text
    ORDER BY seq LIMIT $4::bigint
    """)
  static let selectSeen = PostgresStatement(
    "select_seen", "SELECT seen FROM users WHERE name = $1::text")
  static let selectUsers = PostgresStatement(
    "select_users",
    "SELECT name FROM users WHERE name > $1::text ORDER BY name LIMIT $2::bigint")

  // MARK: - Changes

  static let insertRooms = PostgresStatement(
    "insert_rooms",
    "INSERT INTO rooms (number, name) SELECT * FROM unnest($1::bigint[], $2::text[])")
  static let insertRoomEpochs = PostgresStatement(
    "insert_room_epochs",
    """
    INSERT INTO room_epochs (room, epoch, after)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) ON CONFLICT DO NOTHING
    """)
  static let insertEntries = PostgresStatement(
    "insert_entries",
    """
    INSERT INTO entries
      (room, seq, at, identity, others, content, target, number, sender, id, kind, body)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],
      $6::bigint[], $7::bigint[], $8::bigint[], $9::text[], $10::text[], $11::text[],
      $12::bytea[])
    """)
  static let deleteMembers = PostgresStatement(
    "delete_members",
    """
    DELETE FROM members USING unnest($1::bigint[], $2::text[]) AS former (room, username)
    WHERE members.room = former.room AND members.username = former.username
    """)
  static let insertMembers = PostgresStatement(
    "insert_members",
    """
    INSERT INTO members (room, username, read, received, since)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
    ON CONFLICT (room, username) DO UPDATE
    SET read = EXCLUDED.read, received = EXCLUDED.received, since = EXCLUDED.since
    """)
  static let insertRules = PostgresStatement(
    "insert_rules",
    """
    INSERT INTO rules (room, settings, owners, members, barred)
    SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[])
    ON CONFLICT (room) DO UPDATE SET settings = EXCLUDED.settings, owners = EXCLUDED.owners,
      members = EXCLUDED.members, barred = EXCLUDED.barred
    """)
  static let deleteStandings = PostgresStatement(
    "delete_standings",
    """
    DELETE FROM standings USING unnest($1::bigint[], $2::text[]) AS former (room, username)
    WHERE standings.room = former.room AND standings.username = former.username
    """)
  static let insertStandings = PostgresStatement(
    "insert_standings",
    """
    INSERT INTO standings (room, username, role, ban, mute, since, inviter)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[],
      $6::bigint[], $7::text[])
    ON CONFLICT (room, username) DO UPDATE SET role = EXCLUDED.role, ban = EXCLUDED.ban,
      mute = EXCLUDED.mute, since = EXCLUDED.since, inviter = EXCLUDED.inviter
    """)
  static let deleteDirects = PostgresStatement(
    "delete_directs", "DELETE FROM directs WHERE room = ANY ($1::bigint[])")
  static let insertDirects = PostgresStatement(
    "insert_directs",
    """
    INSERT INTO directs (room, state) SELECT * FROM unnest($1::bigint[], $2::text[])
    ON CONFLICT (room) DO UPDATE SET state = EXCLUDED.state
    """)
  static let deleteBlock = PostgresStatement(
    "delete_block", "DELETE FROM blocks WHERE username = $1::text AND blocked = $2::text")
  static let insertBlock = PostgresStatement(
    "insert_block",
    """
    INSERT INTO blocks (username, blocked, at) VALUES ($1::text, $2::text, $3::bigint)
    ON CONFLICT (username, blocked) DO UPDATE SET at = EXCLUDED.at
    """)
  static let deleteBan = PostgresStatement(
    "delete_ban", "DELETE FROM bans WHERE username = $1::text")
  static let insertBan = PostgresStatement(
    "insert_ban",
    """
    INSERT INTO bans (username, until) VALUES ($1::text, $2::bigint)
    ON CONFLICT (username) DO UPDATE SET until = EXCLUDED.until
    """)
  static let clearStandings = PostgresStatement(
    "clear_standings", "DELETE FROM standings WHERE room = ANY ($1::bigint[])")
  static let insertReports = PostgresStatement(
    "insert_reports",
    """
    INSERT INTO reports (report, room, seq, at, copied)
    SELECT *, true FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
    """)
  static let updateReports = PostgresStatement(
    "update_reports", "UPDATE reports SET copied = false WHERE report = ANY ($1::bigint[])")
  static let deleteReports = PostgresStatement(
    "delete_reports", "DELETE FROM reports WHERE report < $1::bigint")
  static let trimRooms = PostgresStatement(
    "trim_rooms",
    """
    UPDATE rooms SET first = trimmed.first,
      changes = coalesce((SELECT entries.number FROM entries WHERE entries.room = trimmed.room
        AND target IS NOT NULL AND seq < trimmed.first ORDER BY seq DESC LIMIT 1), changes)
    FROM unnest($1::bigint[], $2::bigint[]) AS trimmed (room, first)
    WHERE rooms.number = trimmed.room
    """)
  static let redactEntries = PostgresStatement(
    "redact_entries",
    """
    UPDATE entries SET body = redacted.body
    FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) AS redacted (room, seq, body)
    WHERE entries.room = redacted.room AND entries.seq = redacted.seq
    """)
  static let redactEdits = PostgresStatement(
    "redact_edits",
    """
    UPDATE entries SET body = redacted.body
    FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) AS redacted (room, target, body)
    WHERE entries.room = redacted.room AND entries.target = redacted.target
      AND entries.kind = 'edit'
    """)
  static let deleteReactions = PostgresStatement(
    "delete_reactions",
    """
    DELETE FROM reactions
    USING unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[])
      AS former (room, target, username, emoji)
    WHERE reactions.room = former.room AND reactions.target = former.target
      AND reactions.username = former.username AND reactions.emoji = former.emoji
    """)
  static let insertReactions = PostgresStatement(
    "insert_reactions",
    """
    INSERT INTO reactions (room, target, username, emoji, seq)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[])
    ON CONFLICT DO NOTHING
    """)
  static let insertSeen = PostgresStatement(
    "insert_seen",
    """
    INSERT INTO users (name, seen) SELECT * FROM unnest($1::text[], $2::bigint[])
    ON CONFLICT (name) DO UPDATE SET seen = EXCLUDED.seen
    """)
  static let deleteSeen = PostgresStatement(
    "delete_seen", "DELETE FROM users WHERE name = ANY($1::text[])")
}
