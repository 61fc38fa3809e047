// The first transport: a WebSocket.
/** @import { Transport, TransportContext } from "./types.js" */

/**
 * @param {TransportContext} context
 * @returns {Transport}
 */
export function openWebSocket({ base, user, token, WebSocket, opened, receive, closed }) {
  const url = new URL("ws", base);
  url.protocol = base.protocol.replace("http", "ws");
  if (user !== undefined && token === undefined) url.searchParams.set("user", user);
  const socket = new WebSocket(url.href, "relay.v1");
  socket.onopen = () => opened();
  socket.onmessage = (/** @type {{data: string}} */ { data }) => receive(JSON.parse(data));
  socket.onerror = () => {}; // "close" follows
  socket.onclose = (/** @type {{code: number, reason: string}} */ { code, reason }) =>
    closed(code, reason);
  return {
    send(_, text) {
      if (socket.readyState === 1) socket.send(text);
    },
    close(code) {
      socket.close(code);
    },
  };
}
