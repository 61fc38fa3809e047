// A relay that does what the test says: for closes, refusals and answers that a real one seldom
// gives.
import { createServer } from "node:http";
import { Sockets } from "./client.js";

const limits = { frame_bytes: 65536, text_bytes: 8192, rooms: 256, sends_per_s: 0, burst: 0 };

/** Answers a first join of a room that has this many entries. */
export const joined = (head) => ({
  type: "joined",
  room: "general",
  epoch: "e",
  head,
  first: 1,
  after: 0,
  resume: "ok",
  read: 0,
  received: 0,
  members: [],
  lineage: [],
});

export class Scripted {
  /** Messages of all clients, in order. */
  received = [];
  /** When each connection began. */
  connections = [];
  /** Answers a message: `(message, connection) => answers`. */
  answer = () => [];
  /** Answers a request that is no WebSocket. */
  serve = (_request, response) => response.writeHead(404).end();
  user = "ada";
  heartbeat = 25;

  static async start(t) {
    const scripted = new Scripted();
    const http = createServer((request, response) => scripted.serve(request, response));
    const server = new Sockets.WebSocketServer({ server: http });
    scripted.server = server;
    await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
    server.on("connection", (socket) => scripted.#serve(socket));
    t.after(() => {
      for (const socket of server.clients) socket.terminate();
      http.closeAllConnections();
      http.close();
    });
    return scripted;
  }

  get url() {
    return `ws://127.0.0.1:${this.server.address().port}`;
  }

  close(code) {
    for (const socket of this.server.clients) {
      if (code === undefined) socket.terminate();
      else socket.close(code);
    }
  }

  say(message) {
    for (const socket of this.server.clients) socket.send(JSON.stringify(message));
  }

  kinds(type) {
    return this.received.filter((message) => message.type === type);
  }

  #serve(socket) {
    this.connections.push(Date.now());
    const say = (message) => socket.send(JSON.stringify(message));
    say({
      type: "welcome",
      protocol: "relay.v1",
      user: this.user,
      session: "s",
      server: "scripted/1",
      time: 0,
      heartbeat_s: this.heartbeat,
      limits,
    });
    socket.on("message", (text) => {
      const message = JSON.parse(text);
      this.received.push(message);
      const answers = this.answer(message, this.connections.length) ?? [];
      if (answers.length === 0 && message.type === "ping") say({ type: "pong", t: message.t });
      for (const answer of answers) say(answer);
    });
  }
}
