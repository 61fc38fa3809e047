/// `join`, and where a client stands.
extension FieldReader {
  func join(_ json: Span<UInt8>) throws(WireError) -> ClientMessage.Join {
    var join = ClientMessage.Join(room: try room(json))
    join.after = try optionalSequence(.after, json)
    join.epoch = try optionalString(.epoch, json)
    join.lineage = try lineage(json)
    join.subscribers = try flag(.subscribers, json) ?? false
    return join
  }

  /// Reads the rooms of a `join`, each of which can be wrong.
  func joins(
    _ json: Span<UInt8>, limit: Int
  ) throws(WireError) -> [Result<ClientMessage.Join, WireError>] {
    let ref = valid(.ref, Self.isValidID, json)
    var joins: [Result<ClientMessage.Join, WireError>] = []
    var named: Set<String> = []
    try forEachObject(in: .rooms, json) { inner in
      guard limit == 0 || joins.count <= limit else { return }
      guard let fields = try? JSONFields(inner) else {
        joins.append(.failure(bad(.rooms, "an array of objects", json)))
        return
      }
      let reader = FieldReader(fields)
      do throws(WireError) {
        let join = try reader.join(inner)
        guard named.insert(join.room).inserted else {
          throw reader.bad(.room, "named once", inner)
        }
        joins.append(.success(join))
      } catch {
        var error = error
        error.type = RequestName.join.rawValue
        error.ref = ref
        joins.append(.failure(error))
      }
    }
    guard limit == 0 || joins.count <= limit else {
      throw bad(.rooms, "an array of at most \(limit) objects", json)
    }
    guard !joins.isEmpty else { throw bad(.rooms, "an array of at least one object", json) }
    return joins
  }

  func lineage(_ json: Span<UInt8>) throws(WireError) -> [EpochStart]? {
    if fields[.lineage].isAbsent { return nil }
    var lineage: [EpochStart] = []
    var isValid = true
    try forEachObject(in: .lineage, json) { inner in
      guard lineage.count < EpochStart.limit, let reader = try? ObjectReader(inner),
        let start = try? EpochStart(reader, inner)
      else {
        isValid = false
        return
      }
      lineage.append(start)
    }
    guard isValid else {
      throw bad(
        .lineage, "an array of at most \(EpochStart.limit) objects with an epoch and an after",
        json)
    }
    return lineage
  }

  /// Calls `body` with each value of an array.
  private func forEachObject(
    in key: JSONFields.Key, _ json: Span<UInt8>, _ body: (Span<UInt8>) -> Void
  ) throws(WireError) {
    guard fields[key].kind == .array else { throw bad(key, "an array of objects", json) }
    var at = fields[key].range.lowerBound + 1
    json.jsonSkipSpace(&at)
    if json[at] == UInt8(ascii: "]") { return }
    do {
      repeat {
        let value = try json.jsonSkipValue(&at, limit: Span<UInt8>.jsonDepthLimit)
        body(json.extracting(value.range))
      } while try json.jsonSkipComma(&at, orClosing: UInt8(ascii: "]"))
    } catch {
      throw bad(key, "an array of objects", json)
    }
  }
}
