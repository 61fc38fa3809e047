import Testing
import Wire

@Suite struct `the ref of a request` {
  private func decode(_ json: String, roomsLimit: Int = 0) throws(WireError) -> ClientRequest {
    let bytes = Array(json.utf8)
    return try ClientRequest(decoding: bytes.span, textLimitBytes: 0, roomsLimit: roomsLimit)
  }

  private func refusal(of json: String, roomsLimit: Int = 0) -> WireError? {
    do throws(WireError) {
      _ = try decode(json, roomsLimit: roomsLimit)
      return nil
    } catch {
      return error
    }
  }

  @Test func `is read from every type of request`() throws {
    let json = ClientMessage.ping(t: nil).json(ref: "a 1")
    #expect(try ClientRequest(decoding: json.span, textLimitBytes: 0).ref == "a 1")
  }

  @Test func `may be absent`() throws {
    #expect(try decode(#"{"type":"ping"}"#).ref == nil)
    #expect(try decode(#"{"type":"ping","ref":null}"#).ref == nil)
  }

  @Test(arguments: [#""""#, "7", #""é""#, #""\#(String(repeating: "x", count: 65))""#])
  func `has 1 to 64 printable ASCII characters`(_ ref: String) {
    #expect(refusal(of: #"{"type":"ping","ref":\#(ref)}"#)?.field == "ref")
  }

  @Test func `names the error of a field that is wrong`() {
    let error = refusal(of: #"{"type":"send","ref":"7","room":"r","id":"a","text":1}"#)
    #expect(error?.ref == "7")
    #expect(error?.id == "a")
  }

  @Test func `names the error of an unknown type, with its room and id`() {
    let error = refusal(of: #"{"type":"poll","ref":"7","room":"r","id":"a"}"#)
    #expect(error?.ref == "7")
    #expect(error?.room == "r")
    #expect(error?.id == "a")
  }

  @Test func `is read from a message that is not JSON, up to where the error begins`() {
    let error = refusal(of: #"{"type":"send","ref":"7","room":"r","id":"a","text":'x'}"#)
    #expect(error?.code == .badJSON)
    #expect(error?.re == .send)
    #expect(error?.ref == "7")
    #expect(error?.room == "r")
    #expect(error?.id == "a")
  }

  @Test func `is not taken from an invalid value of a message that is not JSON`() {
    #expect(refusal(of: #"{"ref":"é","room":"R","id":7,"text":'x'}"#)?.ref == nil)
  }

  @Test func `is in the answer to the request`() {
    let json = ServerMessage.left(room: "r").json(ref: "7")
    #expect(String(decoding: json, as: UTF8.self) == #"{"type":"left","room":"r","ref":"7"}"#)
    #expect(ServerMessage.ref(in: json.span) == "7")
  }

  // MARK: - Several rooms

  private func joins(_ rooms: String) throws -> [Result<ClientMessage.Join, WireError>] {
    guard
      case .joinRooms(let joins) = try decode(#"{"type":"join","ref":"7","rooms":\#(rooms)}"#)
        .message
    else { return [] }
    return joins
  }

  @Test func `an invalid room does not affect the others`() throws {
    let joins = try joins(#"[{"room":"a","after":3},{"room":"A"},{"room":"b"}]"#)
    #expect(joins.map { try? $0.get().room } == ["a", nil, "b"])
  }

  @Test func `a room that is named twice is joined once`() throws {
    let joins = try joins(#"[{"room":"a"},{"room":"a"}]"#)
    guard case .failure(let error) = joins.last else {
      Issue.record("no error")
      return
    }
    #expect(error.code == .badField)
    #expect(error.room == "a")
    #expect(error.ref == "7")
    #expect(error.re == .join)
  }

  @Test(arguments: ["[]", "7", "{}", #"["a"#])
  func `rooms must be an array with an object`(_ rooms: String) {
    #expect(refusal(of: #"{"type":"join","rooms":\#(rooms)}"#) != nil)
  }

  @Test func `a value that is not an object stands for an invalid room`() throws {
    #expect(try joins("[7]").map { try? $0.get().room } == [nil])
  }

  @Test func `more rooms than the limit are refused as a whole`() {
    let rooms = (0..<3).map { #"{"room":"r\#($0)"}"# }.joined(separator: ",")
    let json = #"{"type":"join","rooms":[\#(rooms)]}"#
    #expect(refusal(of: json, roomsLimit: 3) == nil)
    #expect(refusal(of: json, roomsLimit: 2)?.field == "rooms")
  }

  @Test func `a lineage has at most 16 epochs`() {
    func join(_ count: Int) -> String {
      let epochs = (0..<count).map { #"{"epoch":"e\#($0)","after":0}"# }.joined(separator: ",")
      return #"{"type":"join","room":"r","after":1,"lineage":[\#(epochs)]}"#
    }
    #expect(refusal(of: join(16)) == nil)
    #expect(refusal(of: join(17))?.field == "lineage")
  }
}
