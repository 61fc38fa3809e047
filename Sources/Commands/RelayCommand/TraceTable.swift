import Glibc
internal import Wire

/// A trace as a table for people.
struct TraceTable: CustomStringConvertible {
  private let trace: JSONNode

  init(_ trace: JSONNode) { self.trace = trace }

  private struct Row {
    var stage: String
    /// Milliseconds; empty if unknown.
    var time: String
    var remark = ""
  }

  var description: String {
    let rows = rows
    let stageWidth = rows.map(\.stage.count).max() ?? 0
    let timeWidth = rows.map(\.time.count).max() ?? 0
    var title =
      "entry \(number("seq", of: trace)) of \(text("room", of: trace)) by \(text("from", of: trace))\n"
    let parent = text("traceparent", of: trace)
    if !parent.isEmpty { title += "traceparent \(parent)\n" }
    return rows.reduce(into: title) { text, row in
      text += row.stage + String(repeating: " ", count: stageWidth - row.stage.count + 2)
      text += String(repeating: " ", count: timeWidth - row.time.count) + row.time
      text += row.remark.isEmpty ? "\n" : "  \(row.remark)\n"
    }
  }

  private var rows: [Row] {
    let entries = trace["batch_entries"]?.integer ?? 0
    var rows = [
      Row(stage: "stage", time: "ms"),
      Row(
        stage: "received", time: "0.000",
        remark: Self.text(milliseconds: trace["received_at"]?.integer ?? 0)),
      Row(
        stage: "batched", time: number("batched_ms", of: trace),
        remark: entries == 1 ? "alone" : "\(entries) entries"),
      Row(stage: "committed", time: number("committed_ms", of: trace)),
      Row(stage: "synced", time: number("synced_ms", of: trace)),
    ]
    let fanOuts = trace["fanned_out"]?.elements ?? []
    for fanOut in fanOuts {
      let connections = fanOut["connections"]?.integer ?? 0
      let lagging = fanOut["lagging"]?.integer ?? 0
      rows.append(
        Row(
          stage: "fanned out", time: number("ms", of: fanOut),
          remark: "loop \(number("loop", of: fanOut)): \(connections)"
            + (connections == 1 ? " connection" : " connections")
            + (lagging > 0 ? ", \(lagging) lagging" : "")))
    }
    if fanOuts.isEmpty { rows.append(Row(stage: "fanned out", time: "", remark: "not yet")) }
    let names: [(String, StaticString)] = [("received by", "received_by"), ("read by", "read_by")]
    for (stage, name) in names {
      for member in trace[name]?.elements ?? [] {
        let time = number("ms", of: member)
        rows.append(
          Row(
            stage: "\(stage) \(text("user", of: member))", time: time,
            remark: time.isEmpty ? "time unknown" : ""))
      }
    }
    return rows
  }

  private func text(_ name: StaticString, of node: JSONNode) -> String {
    node[name]?.string ?? ""
  }

  private func number(_ name: StaticString, of node: JSONNode) -> String {
    node[name]?.number ?? ""
  }

  /// Returns a time in UTC, as in RFC 3339.
  private static func text(milliseconds: Int64) -> String {
    var seconds = time_t(milliseconds / 1000)
    var time = unsafe tm()
    unsafe gmtime_r(&seconds, &time)
    let date = unsafe [time.tm_year + 1900, time.tm_mon + 1, time.tm_mday].map { padded($0, 2) }
    let clock = unsafe [time.tm_hour, time.tm_min, time.tm_sec].map { padded($0, 2) }
    return date.joined(separator: "-") + "T" + clock.joined(separator: ":")
      + ".\(padded(Int32(milliseconds % 1000), 3))Z"
  }

  private static func padded(_ number: Int32, _ digits: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
