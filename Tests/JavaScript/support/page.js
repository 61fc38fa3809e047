// The web page from its sources, beside a relay that does what the test says.
import { existsSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { Browser } from "./browser.js";
import { joined, Scripted } from "./scripted.js";
import { Uploads } from "./uploads.js";

const page = new URL("../../../Sources/Web/page/", import.meta.url);
const types = { ".js": "text/javascript", ".css": "text/css", ".html": "text/html" };

/** A relay with one room, which has these entries, and takes what is sent and uploaded. */
export async function startPage(t, entries = [], flags = []) {
  const relay = await Scripted.start(t);
  const uploads = new Uploads();
  relay.serve = (request, response) => {
    const { pathname } = new URL(request.url, "http://relay");
    if (pathname.startsWith("/v1/files")) return uploads.serve(request, response);
    if (pathname === "/v1/sign-in") return response.end(JSON.stringify({ mode: "open" }));
    const name = pathname === "/" ? "index.html" : pathname.replace("/web/dev/", "");
    const file = fileURLToPath(new URL(name, page));
    if (pathname.startsWith("/v1/") || !existsSync(file)) return response.writeHead(404).end();
    response.setHeader("Content-Type", types[extname(name)] ?? "application/octet-stream");
    const bytes = readFileSync(file);
    const text = () => String(bytes).replaceAll("{root}", "").replaceAll("{version}", "dev");
    response.end(name === "index.html" ? text() : bytes);
  };
  const log = [...entries];
  relay.answer = (message) => {
    const { type, ref, rooms } = message;
    const head = log.length;
    if (type === "join")
      return rooms.map(({ room, after }) => ({
        ...joined(head),
        read: head,
        room,
        ref,
        after: after ?? head,
      }));
    if (type === "history")
      return [{ type: "entries", ref, entries: log, head, first: 1, epoch: "e" }];
    if (type === "rooms") return [{ type: "rooms", ref, rooms: [row(log)] }];
    if (type === "people") return [{ type: "people", ref, people: [], source: "none", as_of: 1 }];
    if (type === "blocks") return [{ type: "blocks", ref, users: [] }];
    if (type !== "send") return ref === undefined ? [] : [{ type: "ok", ref }];
    const { type: _, ref: __, ...said } = message;
    const file = said.file && {
      size: uploads.files.get(said.file)?.size,
      media_type: "text/plain",
    };
    const entry = { type: "message", seq: head + 1, from: "ada", at: Date.now(), ...said, ...file };
    log.push(entry);
    return [{ type: "ack", ref, seq: entry.seq, at: entry.at }, entry];
  };
  const browser = await Browser.start(t, flags);
  const tab = await browser.open(`${relay.url.replace("ws", "http")}/?user=ada&room=general`);
  return { relay, uploads, browser, tab, log };
}

const row = (log) => ({
  room: "general",
  title: "General",
  head: log.length,
  read: log.length,
  unread: 0,
  listed: true,
});
