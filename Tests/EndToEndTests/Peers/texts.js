// Three texts by Node's ws: texts.js URL CA|- deflate|none. Prints what was agreed.
'use strict';
const assert = require('assert');
const { readFileSync } = require('fs');
const WebSocket = require('ws');
const Deflate = require('/usr/share/nodejs/ws/lib/permessage-deflate.js');

const [url, authority, compression] = process.argv.slice(2);
let digits = '';
for (let number = 1; digits.length < 60 * 1024 - 8;) {
  number = (number * 7919) % 1000003;
  digits += `${number} `;
}
const texts = ['hello \u{1f44b}', 'to be or not to be € '.repeat(100),
  digits.padEnd(60 * 1024, 'x')];

let compressed = 0;
const decompress = Deflate.prototype.decompress;
Deflate.prototype.decompress = function (data, fin, callback) {
  return decompress.call(this, data, fin, (error, inflated) => {
    if (inflated && inflated.includes('"type":"message"')) compressed += 1;
    callback(error, inflated);
  });
};

const socket = new WebSocket(`${url}?user=ada`, ['relay.v1'], {
  ca: authority === '-' ? undefined : readFileSync(authority),
  perMessageDeflate: compression === 'deflate',
});
const entries = [];
let agreed;
socket.on('open', () => {
  const version = socket._socket.getProtocol ? socket._socket.getProtocol() : 'without TLS';
  agreed = `${version}, ${socket.extensions.split(';')[0] || 'nothing'}`;
  socket.send(JSON.stringify({ type: 'join', room: 'r', after: 0 }));
});
const sayAll = () => {
  texts.forEach((text, number) => {
    const send = Buffer.from(JSON.stringify({ type: 'send', room: 'r', id: `${number}`, text }));
    // In three frames.
    socket.send(send.subarray(0, 7), { binary: false, fin: false });
    socket.send(send.subarray(7, 50), { binary: false, fin: false });
    socket.send(send.subarray(50), { binary: false, fin: true });
  });
};
socket.on('message', (data) => {
  const message = JSON.parse(data);
  if (message.type === 'joined') sayAll();
  if (message.type === 'message') entries.push(message.text);
  if (entries.length === texts.length) socket.close(1000);
});
socket.on('error', (error) => { console.error(error); process.exit(1); });
socket.on('close', (code) => {
  assert.deepStrictEqual(entries, texts);
  console.log(`${agreed}, ${compressed} compressed, closed with ${code}`);
});
setTimeout(() => { console.error('no answer'); process.exit(1); }, 120000).unref();
