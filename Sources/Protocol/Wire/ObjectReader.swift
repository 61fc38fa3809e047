/// Typed access to the members of one object.
struct ObjectReader {
  let fields: JSONFields
  let type: String

  init(_ json: Span<UInt8>) throws(UndecodableMessage) {
    do {
      fields = try JSONFields(json, depthLimit: Span<UInt8>.jsonRelayedDepthLimit)
    } catch {
      throw .json
    }
    type = fields[.type].isString ? json.jsonString(fields[.type]) : ""
  }

  func bad(_ key: JSONFields.Key) -> UndecodableMessage { .field(type: type, name: key.name) }

  func string(_ key: JSONFields.Key, _ json: Span<UInt8>) throws(UndecodableMessage) -> String {
    guard let value = optionalString(key, json) else { throw bad(key) }
    return value
  }

  func optionalString(_ key: JSONFields.Key, _ json: Span<UInt8>) -> String? {
    fields[key].isString ? json.jsonString(fields[key]) : nil
  }

  func integer(_ key: JSONFields.Key, _ json: Span<UInt8>) throws(UndecodableMessage) -> Int64 {
    guard let value = json.jsonSequence(fields[key]) else { throw bad(key) }
    return value
  }

  func presence(_ json: Span<UInt8>) -> Presence? {
    optionalString(.presence, json).flatMap(Presence.init)
  }

  func flag(_ key: JSONFields.Key) -> Bool { fields[key].kind == .true }

  func object<Object: WireObject>(
    _ key: JSONFields.Key, _ json: Span<UInt8>
  ) throws(UndecodableMessage) -> Object? {
    guard fields[key].kind == .object else { return nil }
    let inner = json.extracting(fields[key].range)
    return try Object(ObjectReader(inner), inner)
  }

  func array<Object: WireObject>(
    _ key: JSONFields.Key, _ json: Span<UInt8>
  ) throws(UndecodableMessage) -> [Object]? {
    guard fields[key].kind == .array else { return nil }
    var objects: [Object] = []
    var at = fields[key].range.lowerBound + 1
    json.jsonSkipSpace(&at)
    if json[at] == UInt8(ascii: "]") { return [] }
    do {
      repeat {
        let value = try json.jsonSkipValue(&at, limit: Span<UInt8>.jsonRelayedDepthLimit)
        let inner = json.extracting(value.range)
        objects.append(try Object(ObjectReader(inner), inner))
      } while try json.jsonSkipComma(&at, orClosing: UInt8(ascii: "]"))
    } catch let error as UndecodableMessage {
      throw error
    } catch {
      throw .json
    }
    return objects
  }
}
