/// Writes reports as JSON, which also serves as a baseline; the meaning of keys is stable.
public enum BenchJSON {
  /// Returns the JSON; ends with a newline.
  public static func text(of report: BenchReport) -> String {
    let object: JSONObject = [
      "bench": 1, "date": report.date, "extent": report.extent.rawValue,
      "seconds": report.seconds, "cores_taken_by_others": report.coresTakenByOthers,
      "machine": report.facts.map { ["name": $0.name, "text": $0.text] as JSONObject },
      "rows": report.rows.map(\.json), "text": BenchTable.text(of: report),
    ]
    return object.document
  }
}

extension BenchRow {
  fileprivate var json: JSONObject {
    [
      "id": id, "work": work, "unit": unit.rawValue, "shared": isShared, "floor": floor,
      "relay": relay, "ratio": ratio,
    ] + goalMember + [
      "met": isMet, "fault": fault,
      "pairs": pairs.map { ["floor": $0.floor, "relay": $0.relay] as JSONObject },
      "peers": peers.map(\.json),
      "points": points.map { ["line": $0.line, "x": $0.x, "y": $0.y] as JSONObject },
      "details": details.map { ["name": $0.name, "value": $0.value] as JSONObject },
      "notes": notes,
    ]
  }

  private var goalMember: JSONObject {
    switch goal {
    case .ofLibrary(let factor): ["goal_of_library": factor]
    case .atLeast(let least): ["goal_at_least": least]
    case .atMost(let most): ["goal_at_most": most]
    case nil: [:]
    }
  }
}

extension BenchRow.Peer {
  fileprivate var json: JSONObject {
    [
      "name": name, "figure": figure, "note": note.isEmpty ? nil : note,
      "runs": runs.isEmpty ? nil : runs,
    ]
  }
}
