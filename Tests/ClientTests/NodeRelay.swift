import TestSupport

/// A relay of one room on Node's ws, in a process of its own that ends with this object.
final class NodeRelay {
  private let process: ChildProcess
  private let port: UInt16

  /// - Parameter options: of ws about compression, as JSON.
  init(_ options: String) throws {
    process = try ChildProcess(
      ["/usr/bin/node", "-e", Self.script, options],
      environment: ["NODE_PATH=/usr/share/nodejs"])
    guard let port = process.readLine().flatMap({ UInt16($0) }) else {
      throw Unexpected("node-ws does not start: see config/setup\n\(process.errors)")
    }
    self.port = port
  }

  var url: String { "ws://127.0.0.1:\(port)/ws" }

  /// Ends the relay; returns its agreement with the first client, and the number of compressed
  /// messages received.
  func seen() -> String? {
    process.closeInput()
    let line = process.readLine()
    _ = try? process.wait()
    return line
  }

  private static let script = #"""
    'use strict';
    const { WebSocketServer } = require('ws');
    const Deflate = require('/usr/share/nodejs/ws/lib/permessage-deflate.js');
    let inflated = 0;
    let agreed;
    const decompress = Deflate.prototype.decompress;
    Deflate.prototype.decompress = function (data, fin, callback) {
      inflated += 1;
      return decompress.call(this, data, fin, callback);
    };
    const server = new WebSocketServer({
      host: '127.0.0.1', port: 0, perMessageDeflate: JSON.parse(process.argv[1]),
      handleProtocols: (offered) => [...offered][0],
    });
    server.on('listening', () => console.log(server.address().port));
    server.on('headers', (headers) => {
      const line = headers.find((header) => header.startsWith('Sec-WebSocket-Extensions: '));
      agreed = agreed ?? (line ? line.slice(26) : '');
    });
    server.on('connection', (socket) => {
      const say = (message) => socket.send(JSON.stringify(message));
      let seq = 0;
      say({ type: 'welcome', protocol: 'relay.v1', user: 'ada', session: 's', server: 'test/1',
        time: 0, heartbeat_s: 25, limits: {} });
      socket.on('message', (data) => {
        const { type, room, id, text } = JSON.parse(data);
        if (type === 'join') {
          say({ type: 'joined', room, epoch: 'e', head: 0, first: 1, after: 0, resume: 'ok',
            read: 0, received: 0 });
        } else if (type === 'send') {
          seq += 1;
          const at = 1763650000000 + seq;
          say({ type: 'message', room, seq, id, from: 'ada', at, kind: 'text', text });
          say({ type: 'ack', room, id, seq, at });
        }
      });
    });
    process.stdin.resume().on('end', () => {
      console.log(`${agreed} ${inflated}`);
      process.exit(0);
    });
    """#
}
