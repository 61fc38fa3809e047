import Client
import Testing
import Wire

@Suite struct `Client with compression, against other implementations` {
  /// Long and short texts, repetitive and random, in equal numbers.
  static let texts: [String] = (0..<24).map { index in
    switch index % 4 {
    case 0: "short \(index)"
    case 1: String(repeating: "to be or not to be \(index) €, ", count: 40)
    case 2: (0..<400).map { "\(($0 * 7919 + index * 104_729) % 1_000_003)" }.joined(separator: " ")
    default: String(repeating: "a", count: 5000) + "\(index)"
    }
  }

  /// Sends all of it and reads it back.
  private func converse(with url: String, compresses: Bool = true) throws {
    let watcher = try Watcher(url, compresses: compresses)
    watcher.client.join("r", from: .after(0, epoch: nil))
    for text in Self.texts { watcher.client.send(text, to: "r") }
    watcher.run { watcher, _ in
      watcher.client.unacknowledged == 0 && watcher.texts.count >= Self.texts.count
    }
    #expect(!watcher.timedOut)
    #expect(watcher.firstBreak == nil)
    #expect(watcher.texts == Self.texts)
    watcher.client.close()
    watcher.clients.beforeSleep()
  }

  /// A server's options, and the agreement that it must find; `nil` for no compression.
  static let python: [(faults: String, extension: String?)] = [
    (
      #"{"deflate": {}}"#,
      "remote_no_context_takeover=True, local_no_context_takeover=True,"
        + " remote_max_window_bits=15, local_max_window_bits=15"
    ),
    (
      #"{"deflate": {"server_max_window_bits": 12, "client_max_window_bits": 12}}"#,
      "remote_no_context_takeover=True, local_no_context_takeover=True,"
        + " remote_max_window_bits=12, local_max_window_bits=12"
    ),
    (
      #"{"deflate": {"client_max_window_bits": 8}}"#,
      "remote_no_context_takeover=True, local_no_context_takeover=True,"
        + " remote_max_window_bits=8, local_max_window_bits=15"
    ),
    // It keeps its window, and wants to keep ours.
    (
      #"{"deflate": {}, "insist": true}"#,
      "remote_no_context_takeover=False, local_no_context_takeover=False,"
        + " remote_max_window_bits=15, local_max_window_bits=15"
    ),
    (
      #"{"deflate": {"server_max_window_bits": 9}, "insist": true}"#,
      "remote_no_context_takeover=False, local_no_context_takeover=False,"
        + " remote_max_window_bits=15, local_max_window_bits=9"
    ),
    ("{}", nil),
  ]

  @Test(arguments: python)
  func `python websockets, with every agreement that it supports`(faults: String, agreed: String?)
    throws
  {
    let relay = try ScriptedRelay(faults)
    try converse(with: relay.url)
    let seen = relay.seen()
    guard let agreed else {
      #expect(!seen.contains { $0.hasPrefix(#"["extension""#) })
      return
    }
    #expect(seen.contains(#"["extension", "PerMessageDeflate(\#(agreed))"]"#), "\(seen.prefix(3))")
    let frames = seen.filter { $0.hasPrefix(#"["frame""#) }
    // Of the long ones, those that our window allows; of the short ones none.
    let compressed = frames.filter { $0.contains("true") }
    #expect(frames.count >= Self.texts.count)
    if agreed.contains("remote_max_window_bits=8") {
      #expect(compressed.isEmpty)
    } else {
      #expect(compressed.count == Self.texts.count { $0.utf8.count > 256 })
    }
  }

  @Test func `without compression nothing is offered`() throws {
    let relay = try ScriptedRelay(#"{"deflate": {}}"#)
    try converse(with: relay.url, compresses: false)
    #expect(!relay.seen().contains { $0.hasPrefix(#"["extension""#) })
  }

  @Test(arguments: [
    (#"{"threshold": 0}"#, true), (#"{"threshold": 0, "serverNoContextTakeover": false}"#, false),
    (#"{"threshold": 0, "serverMaxWindowBits": 9, "clientMaxWindowBits": 10}"#, true),
    (#"{"threshold": 0, "serverNoContextTakeover": false, "clientMaxWindowBits": 9}"#, false),
  ])
  func `Node's ws, with and without context`(options: String, isFrugal: Bool) throws {
    let relay = try NodeRelay(options)
    try converse(with: relay.url)
    let seen = try #require(relay.seen())
    #expect(seen.contains("permessage-deflate"))
    #expect(seen.contains("server_no_context_takeover") == isFrugal, "\(seen)")
    #expect(seen.hasSuffix(" \(Self.texts.count { $0.utf8.count > 256 })"), "\(seen)")
  }

  @Test func `Node's ws without compression`() throws {
    let relay = try NodeRelay("false")
    try converse(with: relay.url)
    #expect(relay.seen() == " 0")
  }
}
