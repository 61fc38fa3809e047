import Client
import TestSupport

/// A relay of files on Node's http, with faults, and a room on Node's ws; it ends with this object.
final class FileRelay {
  private let process: ChildProcess
  let configuration: Client.Configuration

  /// - Parameters:
  ///   - faults: One for each request that fails, in order: `METHOD STATUS`, which may be followed by
  ///     `detail=TEXT`; or `METHOD cut=BYTES`, after which the connection ends; or `METHOD hold`, of which
  ///     no answer comes; or `GET nothing`, a part without bytes; for a thumbnail also `GET not-png`, `GET huge-png` or `GET endless`.
  ///   - content: What a download has.
  init(faults: [String] = [], content: Int = 0) throws {
    process = try ChildProcess(
      ["/usr/bin/node", "-e", Self.script, "\(content)"] + faults)
    guard let port = process.readLine() else {
      throw Unexpected("node does not start: see config/setup\n\(process.errors)")
    }
    configuration = Client.Configuration(
      url: try RelayURL("ws://127.0.0.1:\(port)/under/ws"), token: "secret")
  }

  /// Waits until the server has seen a request that begins like this.
  func wait(for request: String) {
    while let line = process.readLine() { if line.hasPrefix(request) { return } }
  }

  /// Ends the server, and returns the requests since the last one that was waited for.
  func seen() -> [String] { process.end() }

  /// The bytes of a file, which differ wherever they are.
  static func bytes(_ count: Int) -> [UInt8] {
    var state: UInt32 = 1
    return (0..<count).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(truncatingIfNeeded: state >> 24)
    }
  }

  private static let script = #"""
    'use strict';
    const { createHash } = require('crypto');
    const [size, ...faults] = process.argv.slice(1);
    const content = Buffer.alloc(Number(size));
    for (let state = 1, i = 0; i < content.length; i += 1) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      content[i] = state >>> 24;
    }
    // A PNG that is all red, of which only these rows are there.
    const png = (width, height, rows) => {
      const table = [...Array(256).keys()].map((value) => {
        for (let bit = 0; bit < 8; bit += 1) value = (value & 1 ? 0xedb88320 : 0) ^ (value >>> 1);
        return value;
      });
      const chunk = (type, data) => {
        const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(type), data, Buffer.alloc(4)]);
        bytes.writeUInt32BE(data.length, 0);
        let sum = 0xffffffff;
        for (const byte of bytes.subarray(4, -4)) sum = table[(sum ^ byte) & 255] ^ (sum >>> 8);
        bytes.writeUInt32BE(~sum >>> 0, bytes.length - 4);
        return bytes;
      };
      const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
      head.writeUInt32BE(width, 0);
      head.writeUInt32BE(height, 4);
      const row = Buffer.from([0, ...Array(width).fill([255, 0, 0]).flat()]);
      const pixels = require('zlib').deflateSync(Buffer.concat(Array(rows).fill(row)));
      return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', head),
        chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
    };
    const uploads = new Map();
    let version = 1, count = 0;
    const server = require('http').createServer((request, response) => {
      const { method, headers } = request;
      const [wanted, fault = '', ...rest] = (faults[0] || '').split(' ');
      const fails = wanted === method;
      if (fails) faults.shift();
      const id = request.url.slice('/under/v1/files/'.length);
      console.log([method, request.url, headers.authorization,
        headers['upload-length'] || headers['upload-offset'] || headers.range,
        headers['upload-metadata'] || headers['if-range']].filter((word) => word).join(' '));
      const answer = (status, fields = {}, body = '') => {
        response.writeHead(status, { 'Content-Length': Buffer.byteLength(body), ...fields });
        response.end(body);
      };
      if (fails && fault === 'hold') return;
      if (fails && fault === 'nothing') return answer(206, { 'Content-Range': 'bytes 0-0/0' });
      if (fails && /^[0-9]/.test(fault)) {
        if (rest[0] === 'forgets') uploads.clear();
        if (rest[0] === 'changes') version += 1;
        const detail = rest.join(' ').replace(/^detail=/, '');
        return answer(Number(fault), {}, JSON.stringify({ detail }));
      }
      const cut = fails && fault.startsWith('cut=') ? Number(fault.slice('cut='.length)) : Infinity;
      const file = uploads.get(id);
      if (method === 'POST') {
        const created = `file-${count += 1}`;
        uploads.set(created, { length: Number(headers['upload-length']), parts: [], taken: 0 });
        answer(201, { Location: `http://elsewhere.example/v1/files/${created}` });
      } else if (method === 'GET' && id.endsWith('/thumbnail')) {
        const body = { 'not-png': Buffer.from('<html>'), 'huge-png': png(60000, 60000, 1),
          endless: Buffer.alloc(64 << 20) }[fails && fault] || png(64, 32, 32);
        response.writeHead(200, { 'Content-Type': 'image/png', 'Content-Length': body.length });
        if (body.length <= cut) return response.end(body);
        response.write(body.subarray(0, cut), () => setImmediate(() => request.socket.destroy()));
      } else if (method === 'GET') {
        const tag = `"v${version}"`;
        const from = headers['if-range'] === tag ? Number(/=(\d+)-/.exec(headers.range)[1]) : 0;
        const part = content.subarray(from);
        response.writeHead(from ? 206 : 200, { 'Content-Length': part.length, ETag: tag,
          'Content-Range': `bytes ${from}-${content.length - 1}/${content.length}` });
        if (part.length <= cut) return response.end(part);
        response.write(part.subarray(0, cut), () => setImmediate(() => request.socket.destroy()));
      } else if (!file) {
        answer(404, {}, '{"detail":"no such file"}');
      } else if (method === 'HEAD') {
        response.writeHead(200, { 'Upload-Offset': file.taken, 'Upload-Length': file.length });
        response.end();
      } else if (method === 'DELETE') {
        uploads.delete(id);
        answer(204);
      } else if (Number(headers['upload-offset']) !== file.taken) {
        answer(409, {}, '{"detail":"another offset"}');
      } else {
        let left = cut;
        request.on('data', (bytes) => {
          const taken = bytes.subarray(0, left);
          left -= taken.length;
          file.parts.push(taken);
          file.taken += taken.length;
          if (left === 0) request.socket.destroy();
        });
        request.on('error', () => {});
        request.on('end', () => {
          answer(204, { 'Upload-Offset': file.taken });
          if (file.taken === file.length) {
            console.log('whole', createHash('sha256').update(Buffer.concat(file.parts)).digest('hex'));
          }
        });
      }
    });
    const { WebSocketServer } = require('/usr/share/nodejs/ws');
    let seq = 0;
    new WebSocketServer({ server }).on('connection', (socket) => {
      const say = (message) => socket.send(JSON.stringify(message));
      say({ type: 'welcome', protocol: 'relay.v1', user: 'ada', session: 's', server: 'test/1',
        time: 0, heartbeat_s: 25, limits: {} });
      socket.on('message', (data) => {
        const { type, room, id, ...body } = JSON.parse(data);
        if (type === 'join') {
          say({ type: 'joined', room, epoch: 'e1', head: 0, first: 1, after: 0, resume: 'ok',
            read: 0, received: 0 });
        } else if (type === 'send') {
          seq += 1;
          console.log(['send', body.file, body.name, body.text].filter((word) => word).join(' '));
          say({ type: 'ack', room, id, seq, at: 0 });
          const file = body.file ? { size: uploads.get(body.file).length } : {};
          say({ type: 'message', room, id, seq, at: 0, from: 'ada', kind: 'text', ...body, ...file,
            ...(body.file ? { media_type: 'text/plain' } : {}),
            ...(/png$/.test(body.name) ? { thumbnail: { width: 64, height: 32, placeholder: '' } } : {}) });
        }
      });
    });
    server.listen(0, '127.0.0.1', () => console.log(server.address().port));
    process.stdin.on('end', () => process.exit(0)).resume();
    """#
}
