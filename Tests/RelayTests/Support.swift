import Relay
import ShardWorld
import Wire

extension SimulatedSocket {
  func join(_ room: String, after: Int64? = 0, subscribers: Bool = false) {
    send(.join(.init(room: room, after: after, subscribers: subscribers)))
  }

  func post(_ room: String, _ id: String, text: String? = nil) {
    send(.send(.init(room: room, id: id, text: text ?? id)))
  }
}

extension [ServerMessage] {
  var entries: [Entry] {
    compactMap { if case .message(let entry) = $0 { entry } else { nil } }
  }
  var acks: [ServerMessage.Ack] {
    compactMap { if case .ack(let ack) = $0 { ack } else { nil } }
  }
  var errors: [WireError] {
    compactMap { if case .error(let error) = $0 { error } else { nil } }
  }
  var joined: [ServerMessage.Joined] {
    compactMap { if case .joined(let joined) = $0 { joined } else { nil } }
  }
  var typing: [Bool] {
    compactMap { if case .typing(_, _, let on) = $0 { on } else { nil } }
  }
  var activity: [ServerMessage.Activity] {
    compactMap { if case .activity(let activity) = $0 { activity } else { nil } }
  }
  var receipts: [ServerMessage.Marks] {
    compactMap { if case .receipt(_, let marks) = $0 { marks } else { nil } }
  }
  var pages: [ServerMessage.HistoryPage] {
    compactMap { if case .history(let page) = $0 { page } else { nil } }
  }
}

func unlimited(_ configuration: inout Shard.Configuration) {
  configuration.limits.budget.sendsPerSecond = 0
  configuration.limits.budget.requestsPerSecond = 0
  configuration.limits.budget.bytesPerSecond = 0
  configuration.limits.budget.connections = 0
  configuration.limits.textBytes = 0
}

extension ServerMessage {
  /// The `type` on the wire.
  var type: String {
    String(decoding: json.dropFirst(#"{"type":""#.utf8.count), as: UTF8.self)
      .split(separator: #"""#, maxSplits: 1).first.map(String.init) ?? ""
  }
}

/// Makes an empty store that keeps the changes of each commit, to look at them.
func countingStore() -> CountingStore<MemoryStore> {
  var store = CountingStore(MemoryStore(), WorkMeter())
  store.keepsCommits = true
  return store
}
