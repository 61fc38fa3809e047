import Client
import TestSupport
import Testing
import Wire

@Suite struct `Client, against Node's ws` {
  @Test func `it joins, sends, takes fragments and a ping between them, and says good-bye`() throws
  {
    let relay = try FragmentingRelay()
    let watcher = try Watcher(relay.url)
    watcher.client.join("r")
    // Longer than the first two forms of a frame's length hold.
    let texts =
      ["hello \u{1F44B}\n\"quoted\"", String(repeating: "x", count: 300)]
      + [String(repeating: "long ", count: 20_000)]
    for text in texts { watcher.client.send(text, to: "r") }
    var acknowledged = 0
    watcher.run { watcher, event in
      switch event {
      case .acknowledged:
        acknowledged += 1
        if acknowledged == texts.count { watcher.client.close() }
      case .ended: return true
      default: break
      }
      return false
    }
    #expect(!watcher.timedOut)
    #expect(watcher.texts == texts)
    #expect(watcher.ended == .closedByClient)
    #expect(
      relay.seen() == [
        "open relay.v1", "pong between", "pong between", "pong between", "closed 1000",
      ])
  }

  @Test func `after a reset it reconnects, and nothing is lost or duplicated`() throws {
    let relay = try FragmentingRelay(resets: 3)
    let watcher = try Watcher(relay.url)
    watcher.client.join("r")
    let texts = (0..<20).map { "line \($0)" }
    for text in texts { watcher.client.send(text, to: "r") }
    var acknowledged = 0
    watcher.run { watcher, event in
      if case .acknowledged = event { acknowledged += 1 }
      return acknowledged == texts.count && watcher.texts.count == texts.count
    }
    #expect(!watcher.timedOut)
    #expect(watcher.texts == texts)
  }
}

/// A small relay on Node's ws that ends with this object.
final class FragmentingRelay {
  private let process: ChildProcess
  let url: String

  /// - Parameters:
  ///   - resets: how many times it resets the connection instead of acknowledging an entry.
  ///   - certificates: for TLS; `nil` means without TLS.
  init(resets: Int = 0, compresses: Bool = false, certificates: Certificates? = nil) throws {
    process = try ChildProcess(
      ["/usr/bin/node", "-e", Self.script, "\(resets)", "\(compresses)"]
        + (certificates?.pair ?? []))
    guard let port = process.readLine() else {
      throw Unexpected("node-ws does not start: see config/setup\n\(process.errors)")
    }
    url = "\(certificates == nil ? "ws" : "wss")://127.0.0.1:\(port)/ws"
  }

  /// Ends the relay, and returns what it saw.
  func seen() -> [String] { process.end() }

  private static let script = #"""
    'use strict';
    const { readFileSync } = require('fs');
    const { createServer } = require('https');
    const { WebSocketServer } = require('/usr/share/nodejs/ws');
    const Deflate = require('/usr/share/nodejs/ws/lib/permessage-deflate.js');
    let resets = Number(process.argv[1]);
    const entries = [];
    const [certificate, key] = process.argv.slice(3).map((file) => readFileSync(file));
    const http = key ? createServer({ cert: certificate, key }) : require('http').createServer();
    const server = new WebSocketServer({
      server: http, perMessageDeflate: process.argv[2] === 'true', maxPayload: 1 << 20 });
    http.listen(0, '127.0.0.1', () => console.log(http.address().port));
    let inflated = 0;
    const decompress = Deflate.prototype.decompress;
    Deflate.prototype.decompress = function (...all) {
      inflated += 1;
      return decompress.apply(this, all);
    };
    server.on('connection', (socket) => {
      const say = (message) => socket.send(JSON.stringify(message));
      // In two fragments, and a ping between them.
      const show = (entry) => {
        const text = Buffer.from(JSON.stringify({ type: 'message', room: 'r', ...entry }));
        socket.send(text.subarray(0, 11), { binary: false, fin: false });
        socket.ping('between');
        socket.send(text.subarray(11), { binary: false, fin: true });
      };
      const agreed = socket.extensions.split(';')[0];
      console.log(['open', socket.protocol, key && socket._socket.getProtocol(), agreed]
        .filter((word) => word).join(' '));
      socket.on('pong', (data) => console.log(`pong ${data}`));
      socket.on('close', (code) => {
        if (agreed) console.log(`inflated ${inflated}`);
        console.log(`closed ${code}`);
      });
      socket.on('error', () => {});
      say({ type: 'welcome', protocol: 'relay.v1', user: 'ada', session: 's', server: 'test/1',
        time: 0, heartbeat_s: 25, limits: {} });
      socket.on('message', (data) => {
        const m = JSON.parse(data);
        if (m.type === 'join') {
          const after = m.after === undefined ? entries.length : m.after;
          say({ type: 'joined', room: 'r', epoch: 'e1', head: entries.length, first: 1, after,
            resume: 'ok', read: 0, received: 0 });
          entries.slice(after).forEach(show);
        } else if (m.type === 'send') {
          let entry = entries.find((known) => known.id === m.id);
          const duplicate = entry !== undefined;
          if (!duplicate) {
            entry = { seq: entries.length + 1, at: 1763650000000, id: m.id, from: 'ada',
              kind: 'text', text: m.text };
            entries.push(entry);
            if (resets > 0 && entries.length % 5 === 0) {
              resets -= 1;
              socket._socket.resetAndDestroy();
              return;
            }
            show(entry);
          }
          say({ type: 'ack', room: 'r', id: m.id, seq: entry.seq, at: entry.at,
            ...(duplicate ? { duplicate } : {}) });
        }
      });
    });
    // The parent's end is the sign to go, once those who are leaving have left.
    const leave = () => {
      if (server.clients.size === 0) process.exit(0);
      setTimeout(leave, 5);
    };
    process.stdin.on('end', leave).resume();
    """#
}
