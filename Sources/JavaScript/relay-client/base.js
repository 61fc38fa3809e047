/**
 * The address below which a relay's resources are, from that of its page or its WebSocket.
 * @param {string | URL} url
 * @param {string} [page] what it may be relative to
 */
export function baseOf(url, page) {
  const base = new URL(url, page);
  base.protocol = base.protocol.replace("ws", "http");
  base.pathname = base.pathname.replace(/(\/ws)?\/?$/, "/");
  return base;
}
