extension ScriptedRelay {
  /// An independent relay, on python3-websockets: an implementation of the other end that
  /// shares no line with ours. It keeps one log per room in memory, and its first argument is a
  /// JSON object of the faults that it commits, each listed where it is used.
  ///
  /// On standard output: the port, then, one JSON array a line, what it saw.
  static let script = #"""
    import asyncio, json, ssl, sys
    from http import HTTPStatus
    from websockets import ConnectionClosed, serve
    from websockets.exceptions import NegotiationError
    from websockets.extensions.permessage_deflate import (
        PerMessageDeflate, ServerPerMessageDeflateFactory)

    faults = json.loads(sys.argv[1])
    rooms, connections, counts = {}, [], {}

    def saw(*what):
        print(json.dumps(what), flush=True)

    def once(name, value=None):
        """Whether a fault is due: its number counts down; or the one that names `value`."""
        wanted = faults.get(name)
        if isinstance(wanted, bool):
            return wanted
        if isinstance(wanted, int) and wanted > 0:
            faults[name] = wanted - 1
            return True
        if isinstance(wanted, list) and value in wanted:
            wanted.remove(value)
            return True
        return False

    class Deflate(ServerPerMessageDeflateFactory):
        """Compression as "deflate" says, and "insist" that the server keeps its window."""
        def process_request_params(self, params, accepted):
            if faults.get("insist") and ("server_no_context_takeover", None) in params:
                raise NegotiationError("this server keeps its window")
            return super().process_request_params(params, accepted)

    decode = PerMessageDeflate.decode

    def decode_and_tell(self, frame, **options):
        if frame.opcode == 1:
            saw("frame", frame.rsv1, len(frame.data))
        return decode(self, frame, **options)

    PerMessageDeflate.decode = decode_and_tell

    class Cut(Exception):
        pass

    class Room:
        def __init__(self):
            self.entries, self.ids, self.refused = [], {}, None

    def message(name, seq, entry):
        return dict(type="message", room=name, seq=seq, at=1763650000000 + seq, **entry)

    class Connection:
        def __init__(self, socket):
            self.socket, self.rooms = socket, set()

        async def say(self, **what):
            text = json.dumps(what)
            if "pieces" in faults:
                return await self.socket.send([text[:9], text[9:]])
            await self.socket.send(text)

        async def show(self, name, seq):
            entry = rooms[name].entries[seq - 1]
            if once("skip", seq):
                return
            await self.say(**message(name, seq, entry))
            if once("double", seq):
                await self.say(**message(name, seq, entry))

        async def handle(self, m):
            name = m.get("room")
            room = rooms.setdefault(name, Room()) if name else None
            if m["type"] == "join":
                saw("join", name, m.get("after"), m.get("epoch"))
                if faults.get("forbidden") == name:
                    return await self.say(type="error", code="forbidden", re="join", room=name,
                                          message="this room is not for you")
                if once("join_limited"):
                    return await self.say(type="error", code="unavailable", re="join", room=name,
                                          message="slow down", retry_after_ms=20)
                head = len(room.entries)
                after, resume = m.get("after"), "ok"
                if after is None:
                    after = head
                if after > head:
                    after, resume = head, "diverged"
                self.rooms.add(name)
                await self.say(type="joined", room=name, epoch=faults.get("epoch", "e1"), head=head,
                               first=1, after=after, resume=resume, read=0, received=0)
                for seq in range(after + 1, head + 1):
                    await self.show(name, seq)
            elif m["type"] == "send":
                await self.take(name, room, m)
            elif m["type"] in ("received", "read"):
                saw(m["type"], name, m["seq"])
            elif m["type"] == "leave":
                self.rooms.discard(name)
                await self.say(type="left", room=name)

        async def take(self, name, room, m):
            text = m.get("text")
            saw("send", name, m["id"], text)
            if once("cut_before", text):
                return self.cut()
            key = (self.user, m["id"])
            new = key not in room.ids
            if room.refused == m["id"]:
                room.refused = None
            elif new and (room.refused or once("limit", text)):
                # Whatever is behind it is refused until it comes again.
                room.refused = room.refused or m["id"]
                return await self.say(type="error", code="unavailable", re="send", room=name,
                                      id=m["id"], message="slow down", retry_after_ms=50)
            if once("refuse", text):
                return await self.say(type="error", code="too_large", re="send", room=name,
                                      id=m["id"], message="the text is too long")
            if once("ignore", text):
                return
            if new:
                body = dict(text=text) if m["kind"] == "text" else dict(data=m["data"])
                room.entries.append(dict(id=m["id"], **{"from": self.user}, kind=m["kind"], **body))
                room.ids[key] = len(room.entries)
            seq = room.ids[key]
            if once("cut_after", text):
                return self.cut()
            if new and not once("hide", text):
                for other in connections:
                    if name in other.rooms:
                        await other.show(name, seq)
            if not once("forget_ack", text):
                ack = dict(type="ack", room=name, id=m["id"], seq=seq, at=1763650000000 + seq)
                await self.say(**ack, **({} if new else dict(duplicate=True)))
            if new and once("answer", text):
                await self.answer(name, room, "re: " + text)

        def cut(self):
            # What has arrived behind this line is lost with the connection.
            self.socket.transport.abort()
            raise Cut

        async def answer(self, name, room, text):
            await self.say(type="typing", room=name, user="echo", on=True)
            room.entries.append(dict(id="bot", **{"from": "echo"}, kind="text", text=text))
            await self.show(name, len(room.entries))

    async def serve_one(socket):
        connection = Connection(socket)
        path = socket.path
        connection.user = path.partition("user=")[2] or "nobody"
        saw("open", path, socket.request_headers.get("Authorization"))
        if tls := socket.transport.get_extra_info("ssl_object"):
            saw("tls", tls.version())
        for extension in socket.extensions:
            saw("extension", repr(extension))
        counts["open"] = counts.get("open", 0) + 1
        if faults.get("say"):
            await socket.send(faults["say"])
        if code := faults.get("close"):
            return await socket.close(code, faults.get("reason", ""))
        if faults.get("silent"):
            return await socket.wait_closed()
        await connection.say(
            type="welcome", protocol="relay.v1", user=connection.user, session="s", server="test/1",
            time=0, heartbeat_s=25, limits=faults.get("limits", {}))
        if once("closing"):
            await connection.say(type="closing", reason="restart", reconnect_after_ms=7)
            return await socket.close(1012)
        connections.append(connection)
        for raw in faults.get("raw", []):
            await socket.send(raw)
        try:
            async for text in socket:
                await connection.handle(json.loads(text))
        except (ConnectionClosed, Cut):
            pass
        finally:
            connections.remove(connection)
            saw("closed", socket.close_code)

    async def refuse(path, headers):
        if status := faults.get("status"):
            return HTTPStatus(status), [("Content-Type", "text/plain")], b"go away\r\n"

    async def main():
        for name, texts in faults.get("rooms", {}).items():
            room = rooms.setdefault(name, Room())
            for text in texts:
                room.entries.append(dict(id="i", **{"from": "bo"}, kind="text", text=text))
        tls = None
        if sys.argv[2:]:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(*sys.argv[2:])
        extensions = [Deflate(**faults["deflate"])] if "deflate" in faults else None
        async with serve(serve_one, "127.0.0.1", 0, ssl=tls, process_request=refuse,
                         subprotocols=["relay.v1"], compression=None, extensions=extensions,
                         close_timeout=0.2) as server:
            print(server.sockets[0].getsockname()[1], flush=True)
            # The parent's end is the sign to go.
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)

    asyncio.run(main())
    """#
}
