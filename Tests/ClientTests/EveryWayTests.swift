import Client
import TLS
import TestSupport
import Testing
import Wire

/// Without and with TLS, without and with compression: three texts, one of 60 KiB, come back as
/// entries in fragments, and the server sees a close with 1000.
@Suite struct `Client, against other implementations, with every transport` {
  private static let texts = [
    "hello \u{1F44B}", String(repeating: "to be or not to be € ", count: 100),
    String((0..<12_000).map { "\($0 * 7919 % 1_000_003) " }.joined().prefix(60 * 1024)),
  ]

  private func converse(
    with url: String, _ certificates: Certificates?, compresses: Bool
  ) throws {
    let watcher = try Watcher(
      url, trust: certificates.map { .authorities(file: $0.authority) } ?? .system,
      compresses: compresses)
    watcher.client.join("r", from: .after(0, epoch: nil))
    for text in Self.texts { watcher.client.send(text, to: "r") }
    watcher.run { watcher, event in
      if case .ended = event { return true }
      if watcher.client.unacknowledged == 0, watcher.texts.count == Self.texts.count {
        watcher.client.close()
      }
      return false
    }
    #expect(!watcher.timedOut)
    #expect(watcher.texts == Self.texts)
    #expect(watcher.ended == .closedByClient)
  }

  @Test(arguments: [false, true], [false, true])
  func `python websockets`(isEncrypted: Bool, isCompressed: Bool) throws {
    let certificates = isEncrypted ? try Certificates() : nil
    let relay = try ScriptedRelay(
      #"{"pieces": true\#(isCompressed ? #", "deflate": {}"# : "")}"#, certificates: certificates)
    try converse(with: relay.url, certificates, compresses: isCompressed)
    let seen = relay.seen()
    #expect(seen.contains(#"["tls", "TLSv1.3"]"#) == isEncrypted, "\(seen)")
    #expect(seen.contains { $0.contains("PerMessageDeflate(") } == isCompressed, "\(seen)")
    #expect(
      seen.count { $0.hasPrefix(#"["frame", true"#) } == (isCompressed ? 2 : 0), "\(seen)")
    #expect(seen.last == #"["closed", 1000]"#)
  }

  @Test(arguments: [false, true], [false, true])
  func `Node's ws`(isEncrypted: Bool, isCompressed: Bool) throws {
    let certificates = isEncrypted ? try Certificates() : nil
    let relay = try FragmentingRelay(compresses: isCompressed, certificates: certificates)
    try converse(with: relay.url, certificates, compresses: isCompressed)
    let opened =
      "open relay.v1\(isEncrypted ? " TLSv1.3" : "")\(isCompressed ? " permessage-deflate" : "")"
    #expect(
      relay.seen()
        == [opened] + Self.texts.map { _ in "pong between" }
        + (isCompressed ? ["inflated 2"] : []) + ["closed 1000"])
  }

  @Test func `a TLS session of a relay that was not verified is not resumed by one that verifies`()
    throws
  {
    let relay = try ScriptedRelay(certificates: try Certificates())
    let watcher = try Watcher(relay.url, trust: .anyone)
    var welcomes = 0
    watcher.run { watcher, event in
      if case .welcomed = event {
        welcomes += 1
        if welcomes == 2 { watcher.client.close() }
        watcher.client.configuration.trust = .system
        watcher.client.reconnect()
      }
      return if case .ended = event { true } else { false }
    }
    #expect(welcomes == 1)
    guard case .untrusted = watcher.ended else {
      Issue.record("\(String(describing: watcher.ended))")
      return
    }
  }
}
