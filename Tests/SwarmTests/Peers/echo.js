// An echo, by Node's ws. Says the port that it got on standard output.
const { WebSocketServer } = require("ws");

const server = new WebSocketServer({ host: "127.0.0.1", port: 0 }, () =>
  console.log(server.address().port));
server.on("connection", (socket) =>
  socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary })));
// Ends with whoever has started it.
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
