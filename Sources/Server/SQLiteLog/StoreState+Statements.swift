internal import SQLite

extension StoreState {
  /// The statements, prepared once and used for every batch.
  struct Statements: ~Copyable {
    var begin: Statement
    var commit: Statement
    var selectRoom: Statement
    var selectFirst: Statement
    var selectLast: Statement
    var selectMembers: Statement
    var countMembers: Statement
    var selectIdentical: Statement
    var selectEpoch: Statement
    var selectMemberships: Statement
    var selectMembership: Statement
    var countMemberships: Statement
    var selectEntry: Statement
    var selectEditCount: Statement
    var selectEmoji: Statement
    var selectOwnEmoji: Statement
    var selectEditsToRedact: Statement
    var selectRedaction: Statement
    var selectPendingRedaction: Statement
    var upsertRedaction: Statement
    var deleteRedaction: Statement
    var selectReactionsBefore: Statement
    var selectTrim: Statement
    var upsertTrim: Statement
    var deleteTrim: Statement
    var targets: TargetStatements
    var changes: ChangeStatements
    var insertRoom: Statement
    var entries: EntryWriter
    var updateChanges: Statement
    var deleteChanges: Statement
    var deleteEdits: Statement
    var deleteReactions: Statement
    var updateBody: Statement
    var emptyEntry: Statement
    var upsertUser: Statement
    var upsertMember: Statement
    var deleteMember: Statement
    var updateFirst: Statement
    var rules: RulesStatements
    var blocks: BlockStatements
    var files: FileStatements

    static func prepare(
      on database: borrowing Database
    ) throws(SQLiteError) -> Statements {
      Statements(
        begin: try Statement("BEGIN IMMEDIATE", on: database),
        commit: try Statement("COMMIT", on: database),
        selectRoom: try Statement(
          """
          SELECT number, first, changes, \(RulesStatements.columns), state
          FROM rooms LEFT JOIN rules ON rules.room = rooms.number
          LEFT JOIN directs ON directs.room = rooms.number WHERE name = ?1
          """, on: database),
        selectFirst: try Statement("SELECT first FROM rooms WHERE number = ?1", on: database),
        selectLast: try Statement(
          "SELECT at, sender, kind, others, content, sound FROM entries WHERE position = ?1",
          on: database),
        selectMembers: try Statement(
          "SELECT user, read, received, since FROM members WHERE room = ?1 LIMIT ?2",
          on: database),
        countMembers: try Statement(
          "SELECT count(*) FROM members WHERE room = ?1", on: database),
        selectIdentical: try Statement(
          """
          SELECT seq, at, sender, id, kind, body FROM entries
          WHERE position = ?1 AND room = ?2 AND sender = ?3 AND id = ?4
            AND seq >= (SELECT first FROM rooms WHERE number = ?2)
          """, on: database),
        selectEpoch: try Statement("SELECT epoch FROM entries WHERE position = ?1", on: database),
        selectMemberships: try Statement(
          """
          SELECT number, first, changes, name, read, received, since, state
          FROM members JOIN rooms ON rooms.number = members.room
          LEFT JOIN directs ON directs.room = rooms.number
          WHERE members.user = ?1 AND members.room > ?2 ORDER BY members.room LIMIT ?3
          """, on: database),
        selectMembership: try Statement(
          """
          SELECT number, first, changes, name, read, received, since, state
          FROM rooms LEFT JOIN directs ON directs.room = rooms.number
          LEFT JOIN members ON members.room = rooms.number AND members.user = ?1
          WHERE rooms.name = ?2
          """, on: database),
        countMemberships: try Statement(
          """
          SELECT (SELECT count(*) FROM members WHERE user = ?1)
            - (SELECT count(*) FROM standings WHERE user = ?1 AND inviter <> '')
            + (SELECT count(*) FROM standings WHERE inviter = ?1 AND inviter <> '')
          """, on: database),
        selectEntry: try Statement(
          "SELECT seq, at, sender, id, kind, body FROM entries WHERE position = ?1", on: database),
        selectEditCount: try Statement(
          """
          SELECT count(*) FROM (SELECT 1 FROM edits WHERE room = ?1 AND target = ?2 LIMIT ?3)
          """, on: database),
        selectEmoji: try Statement(
          "SELECT emoji FROM emoji WHERE room = ?1 AND target = ?2 LIMIT ?3", on: database),
        selectOwnEmoji: try Statement(
          "SELECT emoji FROM reactions WHERE room = ?1 AND target = ?2 AND user = ?4 LIMIT ?3",
          on: database),
        selectEditsToRedact: try Statement(
          """
          SELECT edits.seq, edits.position, size
          FROM edits JOIN entries ON entries.position = edits.position
          WHERE edits.room = ?1 AND target = ?2 AND edits.seq > ?3 ORDER BY edits.seq LIMIT ?4
          """, on: database),
        selectRedaction: try Statement(
          "SELECT room, target, through FROM redactions LIMIT 1", on: database),
        selectPendingRedaction: try Statement(
          "SELECT 1 FROM redactions WHERE room = ?1 AND target = ?2", on: database),
        upsertRedaction: try Statement(
          """
          INSERT INTO redactions (room, target, through) VALUES (?1, ?2, ?3)
          ON CONFLICT DO UPDATE SET through = excluded.through
          """, on: database),
        deleteRedaction: try Statement(
          "DELETE FROM redactions WHERE room = ?1 AND target = ?2", on: database),
        selectReactionsBefore: try Statement(
          "SELECT 1 FROM reactions WHERE room = ?1 AND target < ?2 LIMIT 1", on: database),
        selectTrim: try Statement("SELECT room, first FROM trims LIMIT 1", on: database),
        upsertTrim: try Statement(
          """
          INSERT INTO trims (room, first) VALUES (?1, ?2)
          ON CONFLICT DO UPDATE SET first = excluded.first
          """, on: database),
        deleteTrim: try Statement("DELETE FROM trims WHERE room = ?1", on: database),
        targets: try TargetStatements.prepare(on: database),
        changes: try ChangeStatements.prepare(on: database),
        insertRoom: try Statement("INSERT INTO rooms (number, name) VALUES (?1, ?2)", on: database),
        entries: try EntryWriter.prepare(on: database),
        updateChanges: try Statement(Schema.updateChanges, on: database),
        deleteChanges: try Statement(
          "DELETE FROM changes WHERE room = ?1 AND seq < ?2", on: database),
        // A kept edit may still have to be redacted after its target was trimmed.
        deleteEdits: try Statement(
          "DELETE FROM edits WHERE room = ?1 AND target < ?2 AND seq < ?2", on: database),
        deleteReactions: try Statement(
          """
          DELETE FROM reactions WHERE (room, target, user, emoji) IN (
            SELECT room, target, user, emoji FROM reactions WHERE room = ?1 AND target < ?2 LIMIT ?3)
          """, on: database),
        updateBody: try Statement("UPDATE entries SET body = ?2 WHERE position = ?1", on: database),
        emptyEntry: try Statement(
          "UPDATE entries SET identity = 0, sender = '', id = '', body = x'' WHERE position = ?1",
          on: database),
        upsertUser: try Statement(
          """
          INSERT INTO users (name, seen, here) VALUES (?1, ?2, ?3)
          ON CONFLICT DO UPDATE SET seen = excluded.seen, here = excluded.here
          """, on: database),
        upsertMember: try Statement(
          """
          INSERT INTO members (room, user, read, received, since) VALUES (?1, ?2, ?3, ?4, ?5)
          ON CONFLICT DO UPDATE SET
            read = excluded.read, received = excluded.received, since = excluded.since
          """, on: database),
        deleteMember: try Statement(
          "DELETE FROM members WHERE room = ?1 AND user = ?2", on: database),
        updateFirst: try Statement("UPDATE rooms SET first = ?2 WHERE number = ?1", on: database),
        rules: try RulesStatements.prepare(on: database),
        blocks: try BlockStatements.prepare(on: database),
        files: try FileStatements.prepare(on: database))
    }
  }
}
