// node chat.js URL JOURNAL ROOM...: such as
// node chat.js 'ws://127.0.0.1:8080/ws?user=ada' ada.journal general
//
// A line of the input goes to the first room; one that begins with `{` has the fields of a `send`.
// Every text is printed as JSON, and again when it is edited, deleted or reacted to. After the last
// line the program waits until all are acknowledged and shown. TOKEN_FILE may name a file that
// contains a token.
const fs = require("fs");
const readline = require("readline");
const { Client } = require("./client.js");

const [url, journal, ...rooms] = process.argv.slice(2);
const { TOKEN_FILE } = process.env;

function end(reason) {
  console.error(`-- ${reason}`);
  process.exit(1);
}

const client = new Client(url, journal, rooms, {
  show: (entry) => console.log(JSON.stringify(entry)),
  warn: (text) => console.error(`-- ${text}`),
  token: () => TOKEN_FILE && fs.readFileSync(TOKEN_FILE, "utf8").trim(),
  end,
});
for (const room of client.rooms.values()) room.shown.forEach((entry) => client.show(entry));
client.connect();

const lines = readline.createInterface({ input: process.stdin });
lines.on("line", (line) => {
  if (line.trim() === "") return;
  const { room = rooms[0], ...fields } = line.startsWith("{") ? JSON.parse(line) : { text: line };
  client.say(room, fields);
});
lines.on("close", () => {
  const isBehind = (name) => client.rooms.get(name).own > client.rooms.get(name).last;
  setInterval(() => {
    if (client.outbox.size > 0 || client.wanted.some(isBehind)) return;
    client.end = () => process.exit(0);
    if (client.session) client.socket.close(1000);
    else process.exit(0);
  }, 50);
});
