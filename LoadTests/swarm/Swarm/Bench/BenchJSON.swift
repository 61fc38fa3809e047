internal import YAML

/// Reads and writes reports as JSON, which also serves as a baseline; the meaning of keys is
/// stable.
public enum BenchJSON {
  /// Why a file cannot be read; prints as a sentence.
  public struct Failure: Error, Equatable, CustomStringConvertible {
    /// A single line for the user.
    public var description: String
  }

  /// Returns the JSON; ends with a newline.
  public static func text(of report: BenchReport) -> String {
    var json = JSONText()
    json.object { json in
      json.member("bench", 1)
      json.member("date", report.date)
      json.member("extent", report.extent.rawValue)
      json.member("seconds", report.seconds)
      json.member("cores_taken_by_others", report.coresTakenByOthers)
      json.member("machine") { json in
        json.array(report.facts) { fact, json in
          json.object {
            $0.member("name", fact.name)
            $0.member("text", fact.text)
          }
        }
      }
      json.member("rows") { $0.array(report.rows) { row, json in json.object { write(row, &$0) } } }
    }
    return json.text + "\n"
  }

  private static func write(_ row: BenchRow, _ json: inout JSONText) {
    json.member("id", row.id)
    json.member("work", row.work)
    json.member("unit", row.unit.rawValue)
    json.member("shared", row.isShared)
    func figure(_ key: String, _ value: Double?, _ json: inout JSONText) {
      if let value { json.member(key, value) }
    }
    figure("floor", row.floor, &json)
    figure("relay", row.relay, &json)
    figure("ratio", row.ratio, &json)
    switch row.goal {
    case .ofLibrary(let factor): json.member("goal_of_library", factor)
    case .atLeast(let least): json.member("goal_at_least", least)
    case .atMost(let most): json.member("goal_at_most", most)
    case nil: break
    }
    if let isMet = row.isMet { json.member("met", isMet) }
    if let fault = row.fault { json.member("fault", fault) }
    json.member("pairs") { json in
      json.array(row.pairs) { pair, json in
        json.object {
          $0.member("floor", pair.floor)
          $0.member("relay", pair.relay)
        }
      }
    }
    json.member("peers") { json in
      json.array(row.peers) { peer, json in
        json.object {
          $0.member("name", peer.name)
          figure("figure", peer.figure, &$0)
          if !peer.note.isEmpty { $0.member("note", peer.note) }
          if !peer.runs.isEmpty {
            $0.member("runs") { $0.array(peer.runs) { $1.number($0) } }
          }
        }
      }
    }
    json.member("points") { json in
      json.array(row.points) { point, json in
        json.object {
          $0.member("line", point.line)
          $0.member("x", point.x)
          $0.member("y", point.y)
        }
      }
    }
    json.member("details") { json in
      json.array(row.details) { detail, json in
        json.object {
          $0.member("name", detail.name)
          $0.member("value", detail.value)
        }
      }
    }
    json.member("notes") { $0.array(row.notes) { $1.string($0) } }
  }

  /// Reads the output of ``text(of:)``.
  ///
  /// - Parameter file: The name of the file for errors.
  public static func read(_ bytes: [UInt8], file: String) throws(Failure) -> BenchReport {
    let document = YAMLDocument(bytes)
    guard document.faults.isEmpty, let root = document.root, root.member("bench") != nil,
      let rows = root.member("rows")?.list
    else {
      throw Failure(description: "\(file): not a report of swarm bench")
    }
    var report = BenchReport(
      date: root.words("date"),
      extent: BenchReport.Extent(rawValue: root.words("extent")) ?? .usual,
      facts: root.each("machine") { .init($0.words("name"), $0.words("text")) })
    report.seconds = root.figure("seconds") ?? 0
    report.coresTakenByOthers = root.figure("cores_taken_by_others") ?? 0
    for node in rows {
      guard let unit = BenchRow.Unit(rawValue: node.words("unit")) else {
        throw Failure(
          description: "\(file):\(node.line): rows: unit: \"\(node.words("unit"))\" is not a unit")
      }
      report.rows.append(row(node, unit))
    }
    return report
  }

  private static func row(_ node: YAMLNode, _ unit: BenchRow.Unit) -> BenchRow {
    var row = BenchRow(node.words("id"), node.words("work"), unit)
    row.isShared = node.member("shared")?.boolean ?? false
    row.goal =
      node.figure("goal_of_library").map { .ofLibrary($0) }
      ?? node.figure("goal_at_least").map { .atLeast($0) }
      ?? node.figure("goal_at_most").map { .atMost($0) }
    row.fault = node.member("fault")?.text
    row.pairs = node.each("pairs") {
      .init(floor: $0.figure("floor") ?? 0, relay: $0.figure("relay") ?? 0)
    }
    if row.pairs.isEmpty {
      row.alone = node.figure("relay")
      row.floorAlone = node.figure("floor")
    }
    row.peers = node.each("peers") {
      .init(
        name: $0.words("name"), figure: $0.figure("figure"), note: $0.words("note"),
        runs: $0.figures("runs"))
    }
    row.points = node.each("points") {
      .init(line: $0.words("line"), x: $0.figure("x") ?? 0, y: $0.figure("y") ?? 0)
    }
    row.details = node.each("details") { .init($0.words("name"), $0.figure("value") ?? 0) }
    row.notes = node.member("notes")?.list?.compactMap(\.text) ?? []
    return row
  }
}
