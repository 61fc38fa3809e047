/// What `GET /metrics` shows, in the text format of Prometheus (version 0.0.4). A counter is there
/// from the start, at 0, so that a first increase is seen as one.
struct Metrics {
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  var admission: Admission
  var violations: Violations

  var text: String {
    let connections = admission.census
    var text = ""
    func family(_ name: String, _ type: String, _ help: String) {
      text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }
    family("relay_connections", "gauge", "Connections that are open, whatever their state.")
    text += "relay_connections \(connections.total)\n"
    family(
      "relay_unauthenticated_connections", "gauge",
      "Connections that have not said who they are, of those that had a moment to.")
    text += "relay_unauthenticated_connections \(connections.unidentified)\n"
    family("relay_accepted_total", "counter", "Connections that were let in since the start.")
    text += "relay_accepted_total \(connections.accepted)\n"
    family(
      "relay_violations_total", "counter",
      "Connections and messages refused, ended or held back since the start, by the limit or rule.")
    for rule in Violations.Rule.allCases {
      text += "relay_violations_total{rule=\"\(rule.rawValue)\"} \(violations[rule])\n"
    }
    return text
  }
}
