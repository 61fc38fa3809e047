// A chat with the bot echo, by Node's ws: ends with status 0 if all went as it should.
'use strict';
const assert = require('assert');
const WebSocket = require('ws');

const socket = new WebSocket(`${process.argv[2]}?user=ada`, ['relay.v1']);
const waiting = [];
const arrived = [];
const seen = [];

function deliver() {
  while (waiting.length > 0 && arrived.length > 0) {
    const message = arrived.shift();
    seen.push(message);
    if (waiting[0].matches(message)) waiting.shift().resolve(message);
  }
}

function until(matches) {
  return new Promise((resolve) => {
    waiting.push({ matches, resolve });
    deliver();
  });
}

function say(message) {
  socket.send(JSON.stringify(message));
}

socket.on('message', (data, isBinary) => {
  assert.strictEqual(isBinary, false);
  arrived.push(JSON.parse(data));
  deliver();
});

async function chat() {
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  assert.strictEqual(socket.protocol, 'relay.v1');

  const welcome = await until(() => true);
  assert.strictEqual(welcome.type, 'welcome');
  assert.strictEqual(welcome.user, 'ada');

  say({ type: 'join', room: 'dm:ada:echo', after: 0 });
  const joined = await until((m) => m.type === 'joined');
  assert.strictEqual(joined.head, 0);
  assert.strictEqual(joined.resume, 'ok');

  const text = 'hello, wörld \u{1f44b}';
  say({ type: 'send', room: 'dm:ada:echo', id: 'n1', text });
  await until((m) => m.type === 'message' && m.from === 'echo');
  const entries = seen.filter((m) => m.type === 'message');
  assert.deepStrictEqual(
    entries.map((m) => [m.seq, m.from, m.text]),
    [[1, 'ada', text], [2, 'echo', text]]);
  const acks = seen.filter((m) => m.type === 'ack');
  assert.deepStrictEqual(acks.map((m) => [m.id, m.seq]), [['n1', 1]]);
  assert(seen.some((m) => m.type === 'typing' && m.user === 'echo' && m.on));

  say({ type: 'send', room: 'dm:ada:echo', id: 'n1', text });
  const again = await until((m) => m.type === 'ack');
  assert.strictEqual(again.seq, 1);
  assert.strictEqual(again.duplicate, true);
  say({ type: 'send', room: 'dm:ada:echo', id: 'n1', text: 'again' });
  const other = await until((m) => m.type === 'error');
  assert.deepStrictEqual([other.code, other.id, other.seq], ['id_conflict', 'n1', 1]);

  // In two frames, with a ping between them.
  const request = JSON.stringify({ type: 'history', room: 'dm:ada:echo', after: 0 });
  const pong = new Promise((resolve) => socket.once('pong', resolve));
  socket.send(request.slice(0, 10), { fin: false });
  socket.ping('between');
  assert.strictEqual(String(await pong), 'between');
  socket.send(request.slice(10), { fin: true });
  const page = await until((m) => m.type === 'history');
  assert.deepStrictEqual(page.entries.map((entry) => entry.seq), [1, 2]);

  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.close(1000);
  assert.strictEqual(await closed, 1000);
}

setTimeout(() => { console.error('no answer; seen:', seen); process.exit(1); }, 120000).unref();
chat().then(
  () => console.log('good'),
  (error) => { console.error(error); process.exit(1); });
