import Relay
import SQLiteLog
import TestSupport
import Testing
import Wire

@Suite struct `A damaged report` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: [false, true])
  func `blocks neither the deletion of the message that it copies, nor that of the room`(
    withRoom: Bool
  ) throws {
    let origin = LogRequest.Origin(session: .test, re: .report, ref: "r")
    do {
      let harness = try StoreHarness(folder["data"])
      _ = harness.submit([
        .append("general", "ada", "1", text: "secret"),
        .report(
          .init(
            room: "general", seq: 1, user: "bo", isOperator: false, reason: "spam", origin: origin)),
      ])
    }
    let reason = "CAST('spam' AS BLOB)"
    try SQL(folder["data/relay.db"]).run(
      """
      UPDATE packs SET content = CAST(substr(content, 1, instr(content, \(reason)) - 1) || x'58'
        || substr(content, instr(content, \(reason)) + 1) AS BLOB)
      """)
    let harness = try StoreHarness(folder["data"])
    let answers = harness.submit([
      withRoom
        ? .deleteRoom("general", .init(by: "root", origin: origin))
        : .append(.init(room: "general", id: "2", delete: 1), from: "ada")
    ])
    #expect(answers.refusals.isEmpty)
    let secrets = try SQL(folder["data/relay.db"]).integer(
      """
      SELECT sum(instr(content, CAST('secret' AS BLOB))) FROM packs
      WHERE instr(content, CAST('spam' AS BLOB)) > 0 OR instr(content, CAST('reason' AS BLOB)) > 0
      """)
    #expect(secrets == 0)
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }
}
