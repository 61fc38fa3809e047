import Archive
import Wire

/// Entries as the relay sends them.
extension Entry {
  static func text(
    _ seq: Int64, _ text: String = "hi", from: String = "bo", room: String = "general"
  ) -> Entry {
    made(ClientMessage.Send(room: room, id: "\(from)-\(seq)", text: text), seq, from)
  }

  static func edit(
    _ seq: Int64, of target: Int64, _ text: String, from: String = "bo", room: String = "general"
  ) -> Entry {
    made(ClientMessage.Send(room: room, id: "\(seq)", edit: target, text: text), seq, from)
  }

  static func delete(
    _ seq: Int64, of target: Int64, from: String = "bo", room: String = "general"
  ) -> Entry {
    made(ClientMessage.Send(room: room, id: "\(seq)", delete: target), seq, from)
  }

  static func reaction(
    _ seq: Int64, to target: Int64, _ emoji: String, on: Bool = true, from: String = "bo",
    room: String = "general"
  ) -> Entry {
    made(
      ClientMessage.Send(room: room, id: "\(seq)", react: target, emoji: emoji, isOn: on), seq, from
    )
  }

  private static func made(_ send: ClientMessage.Send, _ seq: Int64, _ from: String) -> Entry {
    Entry(
      room: send.room, seq: seq, id: send.id, from: from, at: 1_000 + seq, kind: send.kind,
      body: send.body)
  }
}

extension Archive {
  /// The seq of every entry of a room that has content of its own.
  func seqs(_ room: String = "general") throws -> [Int64] {
    try page(of: room, limit: 1_000_000).map(\.seq)
  }

  func room(_ name: String = "general") throws -> Room? { try rooms().first { $0.room == name } }
}
