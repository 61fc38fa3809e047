import Relay
import Testing
import Wire

@testable import Gateway

@Suite struct `A batch of requests` {
  private func batch(
    _ content: String, rooms: Int = 256
  ) throws -> RequestBatch {
    var limits = Shard.Limits()
    limits.roomsPerConnection = rooms
    return try RequestBatch(Array(content.utf8), limits: limits)
  }

  /// Submits the requests that can be submitted.
  private func submit(_ batch: inout RequestBatch) -> [String] {
    var submitted: [String] = []
    while batch.hasNext() { submitted.append(String(decoding: batch.takeNext(), as: UTF8.self)) }
    return submitted
  }

  @discardableResult
  private func answer(
    _ batch: inout RequestBatch, _ message: ServerMessage, ref: Int
  ) -> Bool {
    batch.take(InternalMessage(json: message.json(ref: "\(ref)")))
  }

  private func answers(_ batch: RequestBatch) -> String {
    String(decoding: batch.json, as: UTF8.self)
  }

  @Test func `is submitted under refs of the relay's own, and answered under the client's`() throws
  {
    var batch = try batch(
      #"[{"type":"ping","t":1,"ref":"x"},{"type":"ping","t":2},{"type":"ping","t":3,"ref":"x"}]"#)
    #expect(
      submit(&batch) == [
        #"{"type":"ping","t":1,"ref":"0"}"#, #"{"type":"ping","t":2,"ref":"1"}"#,
        #"{"type":"ping","t":3,"ref":"2"}"#,
      ])
    for place in [2, 0] { answer(&batch, .ok, ref: place) }
    #expect(!batch.isDone)
    answer(&batch, .left(room: "a"), ref: 1)
    #expect(batch.isDone)
    #expect(
      answers(batch)
        == #"[{"type":"ok","ref":"x"},{"type":"left","room":"a"},{"type":"ok","ref":"x"}]"#)
  }

  @Test func `takes the first answer to each request, and ignores unrelated messages`() throws {
    var batch = try batch(#"[{"type":"ping"}]"#)
    _ = submit(&batch)
    _ = batch.take(InternalMessage(json: ServerMessage.ok.json))
    answer(&batch, .ok, ref: 7)
    #expect(!batch.isDone)
    answer(&batch, .ok, ref: 0)
    answer(&batch, .left(room: "a"), ref: 0)
    #expect(answers(batch) == #"[{"type":"ok"}]"#)
  }

  @Test func `reads when all earlier requests are answered`() throws {
    var batch = try batch(
      #"[{"type":"leave","room":"a"},{"type":"ping"},{"type":"history","room":"a"}]"#)
    for _ in 1...2 {
      #expect(!batch.nextMustWait)
      _ = batch.takeNext()
    }
    #expect(batch.nextMustWait)
    answer(&batch, .ok, ref: 0)
    #expect(batch.nextMustWait)
    answer(&batch, .ok, ref: 1)
    #expect(!batch.nextMustWait)
  }

  @Test func `answers invalid requests in their place, and carries out the others`() throws {
    var batch = try batch(
      #"[{"type":"nonsense","ref":"n"},{"type":"ping"},7,{"type":"auth","token":"x","ref":"a"}]"#)
    #expect(submit(&batch) == [#"{"type":"ping","ref":"1"}"#])
    answer(&batch, .ok, ref: 1)
    #expect(batch.isDone)
    let json = batch.json
    let ranges = RequestArray.elements(in: json.span) ?? []
    let codes = try ranges.map { range in
      guard case .error(let error) = try ServerMessage(decoding: Array(json[range]).span)
      else { return "none" }
      return "\(error.code.rawValue) \(error.type ?? "-") \(error.ref ?? "-")"
    }
    #expect(
      codes == ["unknown_type nonsense n", "none", "bad_json - -", "bad_field auth a"])
  }

  @Test func `has an answer for each room of a join`() throws {
    var batch = try batch(
      #"[{"type":"join","ref":"j","rooms":[{"room":"a","after":1},{"room":"B"},{"room":"c"}]}]"#)
    #expect(
      submit(&batch) == [
        #"{"type":"join","room":"a","after":1,"ref":"0"}"#,
        #"{"type":"join","room":"c","ref":"2"}"#,
      ])
    answer(&batch, .left(room: "c"), ref: 2)
    answer(&batch, .left(room: "a"), ref: 0)
    let text = answers(batch)
    #expect(text.hasPrefix(#"[{"type":"left","room":"a","ref":"j"},{"type":"error","#))
    #expect(text.hasSuffix(#"{"type":"left","room":"c","ref":"j"}]"#))
  }

  @Test func `joins no more rooms than a connection`() throws {
    var batch = try batch(
      #"[{"type":"join","rooms":[{"room":"a"},{"room":"b"}]},{"type":"join","rooms":[{"room":"c"}]}]"#,
      rooms: 2)
    #expect(submit(&batch).count == 2)
    #expect(answers(batch).contains(#""code":"too_many_rooms""#))
  }

  @Test func `costs its sends and its requests, a join one for each 16 rooms`() throws {
    let rooms = (1...33).map { "{\"room\":\"r\($0)\"}" }.joined(separator: ",")
    let batch = try batch(
      #"[{"type":"send","room":"a","id":"1","text":"x"},{"type":"ping"},{},{"type":"join","rooms":[\#(rooms)]}]"#
    )
    #expect(batch.sends == 1)
    #expect(batch.requests == 1 + 1 + 3)
    #expect(try self.batch("[]").requests == 1)
  }

  @Test func `carries out nothing more once its answers are long`() throws {
    var batch = try batch(
      #"[{"type":"ping"},{"type":"ping"},{"type":"send","room":"a","id":"1","text":"x","ref":"s"}]"#
    )
    var hasNext = batch.hasNext()
    #expect(hasNext)
    _ = batch.takeNext()
    let long = String(repeating: "a", count: RequestBatch.answersLimitBytes)
    answer(&batch, .left(room: long), ref: 0)
    hasNext = batch.hasNext()
    #expect(!hasNext)
    #expect(batch.isDone)
    let text = answers(batch)
    #expect(text.count < RequestBatch.answersLimitBytes + 1000)
    #expect(text.ranges(of: #""code":"too_large""#).count == 2)
    #expect(text.contains(#""re":"send","room":"a","id":"1","ref":"s"}]"#))
  }

  @Test func `reports acks of duplicates`() throws {
    var batch = try batch(#"[{"type":"send","room":"a","id":"1","text":"x"}]"#)
    _ = submit(&batch)
    let ack = ServerMessage.Ack(room: "a", id: "1", seq: 1, at: 1, duplicate: true, ref: "0")
    let isDuplicate = batch.take(InternalMessage(json: ServerMessage.ack(ack).json))
    #expect(isDuplicate)
  }

  @Test func `whose relay does not answer gets errors for the rest`() throws {
    var batch = try batch(#"[{"type":"ping"},{"type":"leave","room":"a","ref":"l"}]"#)
    _ = submit(&batch)
    answer(&batch, .ok, ref: 0)
    batch.refuseRest(.unavailable, "No.", retryAfterMilliseconds: 1000)
    #expect(batch.isDone)
    #expect(
      answers(batch).hasSuffix(
        #"{"type":"error","code":"unavailable","message":"No.","re":"leave","room":"a","retry_after_ms":1000,"ref":"l"}]"#
      ))
  }

  @Test(arguments: ["", "{}", "[", "[1,]", "null"])
  func `is an array`(content: String) {
    #expect { try batch(content) } throws: { ($0 as? WireError)?.code == .badJSON }
  }

  @Test func `has at most a hundred requests`() throws {
    func content(_ count: Int) -> String {
      "[" + Array(repeating: #"{"type":"ping"}"#, count: count).joined(separator: ",") + "]"
    }
    var batch = try batch(content(100))
    #expect(submit(&batch).count == 100)
    #expect { try self.batch(content(101)) } throws: { ($0 as? WireError)?.code == .badField }
  }
}
