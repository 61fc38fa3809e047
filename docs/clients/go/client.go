package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	random "math/rand"
	"os"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

type object map[string]any

func parse(text []byte) (o object, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // so that it is passed on as it came
	return o, decoder.Decode(&o)
}

func (o object) text(key string) string { s, _ := o[key].(string); return s }

func (o object) number(key string) int64 { n, _ := o[key].(json.Number); i, _ := n.Int64(); return i }

// and returns a new object with the fields of both.
func (o object) and(more object) object {
	both := object{}
	for _, some := range []object{o, more} {
		for key, value := range some {
			both[key] = value
		}
	}
	return both
}

func without(list []string, item string) (rest []string) {
	for _, other := range list {
		if other != item {
			rest = append(rest, other)
		}
	}
	return rest
}

type room struct {
	log       []object         // the entries as they came
	shown     map[int64]object // texts and data by seq, folded
	last, own int64            // the last seq, and the last one that an ack named
	place     object           // the epoch or lineage that `last` belongs to
}

// fold takes an entry. It returns what to show: the entry, or the one that it changes.
func (r *room) fold(entry object) object {
	r.log = append(r.log, entry)
	kind, shown := entry.text("kind"), r.shown[entry.number("target")]
	if kind == "text" || kind == "data" {
		shown = entry.and(nil)
		r.shown[entry.number("seq")] = shown
	}
	if shown == nil {
		return nil // its target is not kept
	}
	switch kind {
	case "edit":
		shown["text"], shown["edited_at"] = entry["text"], entry["at"]
	case "react":
		emoji, user := entry.text("emoji"), entry.text("from")
		reactions, _ := shown["reactions"].(map[string][]string)
		if reactions == nil {
			reactions = map[string][]string{}
		}
		others := without(reactions[emoji], user)
		if entry["on"] == false {
			reactions[emoji] = others
		} else if len(others) == len(reactions[emoji]) {
			reactions[emoji] = append(others, user)
		}
		if len(reactions[emoji]) == 0 {
			delete(reactions, emoji)
		}
		if shown["reactions"] = reactions; len(reactions) == 0 {
			delete(shown, "reactions")
		}
	case "delete":
		for _, field := range []string{"reply_to", "forward", "edited_at", "reactions"} {
			delete(shown, field)
		}
		if shown["deleted"] = true; shown["kind"] == "data" {
			shown["data"] = nil
		} else {
			shown["text"] = ""
		}
	}
	return shown
}

// rewind drops the entries after a seq, and what they changed.
func (r *room) rewind(after int64) {
	kept := r.log
	r.log, r.shown, r.own = nil, map[int64]object{}, 0
	for _, entry := range kept {
		if entry.number("seq") <= after {
			r.fold(entry)
		}
	}
}

// A Client is a client of relay.v1 that loses no message and sends none twice, even if it is killed.
type Client struct {
	URL   string
	Show  func(entry object)  // is called with each entry that is new or has changed
	Warn  func(reason string) // with what a person should know
	Token func() string       // returns a token, or "" for an open relay

	lock                  sync.Mutex
	journal               *os.File // serves one process at a time
	rooms                 map[string]*room
	wanted                []string
	outbox                []string // ids, in order, until acknowledged or refused
	sends                 map[string]object
	user, session, prefix string
	count                 int
	pause                 time.Duration
	socket                *websocket.Conn
}

// Open reads the journal, and with it the state of the client.
func (c *Client) Open(journal string, rooms []string) (err error) {
	prefix, end := make([]byte, 12), int64(0)
	rand.Read(prefix)
	c.rooms, c.sends, c.wanted = map[string]*room{}, map[string]object{}, rooms
	c.prefix = fmt.Sprintf("%x", prefix)
	c.journal, err = os.OpenFile(journal, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	for reader := bufio.NewReader(c.journal); err == nil; {
		text, torn := reader.ReadBytes('\n')
		line, unreadable := parse(text)
		if torn != nil || unreadable != nil { // by a crash: it was neither sent nor shown yet
			return c.journal.Truncate(end)
		}
		end += int64(len(text))
		c.apply(line)
	}
	return err
}

func (c *Client) room(name string) *room {
	if c.rooms[name] == nil {
		c.rooms[name] = &room{shown: map[int64]object{}}
	}
	return c.rooms[name]
}

// apply changes the state by a line of the journal: the state is what all lines make of it.
func (c *Client) apply(line object) object {
	id, r := line.text("id"), c.room(line.text("room"))
	switch line["type"] {
	case "welcome":
		c.user = line.text("user")
	case "send":
		c.outbox, c.sends[id] = append(c.outbox, id), line
	case "joined":
		if line["resume"] == "diverged" {
			r.rewind(line.number("after"))
		} else if line["resume"] != "ok" && line["resume"] != "truncated" {
			r.rewind(0)
		}
		r.last, r.place = line.number("after"), object{"epoch": line["epoch"]}
		if line["lineage"] != nil {
			r.place = object{"lineage": line["lineage"]}
		}
	case "message":
		if r.last = line.number("seq"); line["from"] == c.user { // other users may use the same id
			c.outbox = without(c.outbox, id)
		}
		return r.fold(line)
	default: // ack, error
		if seq := line.number("seq"); seq > r.own {
			r.own = seq
		}
		c.outbox = without(c.outbox, id)
	}
	return nil
}

// must stops the client: without its journal it could promise nothing.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// store appends a line to the journal, then applies it. A send is synced before it is sent.
func (c *Client) store(line object) object {
	text, err := json.Marshal(line)
	must(err)
	_, err = c.journal.Write(append(text, '\n'))
	must(err)
	if line["type"] == "send" {
		must(c.journal.Sync())
	}
	return c.apply(line)
}

// Say sends a message, now or once there is a connection.
func (c *Client) Say(room string, fields object) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.count++
	id := fmt.Sprintf("%s-%d", c.prefix, c.count)
	c.store(object{"type": "send", "room": room, "id": id}.and(fields))
	if len(c.outbox) == 1 {
		c.flush()
	}
}

// flush sends the first line of the outbox. One at a time: so a refusal does not reorder them.
func (c *Client) flush() {
	if c.session != "" && len(c.outbox) > 0 {
		c.socket.WriteJSON(c.sends[c.outbox[0]].and(object{"ref": c.outbox[0]})) // the outbox keeps it
	}
}

func (c *Client) join(names []string) {
	var places []object
	for i, name := range names {
		r := c.room(name)
		places = append(places, object{"room": name, "after": r.last}.and(r.place))
		if len(places) == 16 || i == len(names)-1 { // within frame_bytes
			c.socket.WriteJSON(object{"type": "join", "rooms": places})
			places = nil
		}
	}
}

func (c *Client) receive(m object) {
	var first string
	if len(c.outbox) > 0 {
		first = c.outbox[0]
	}
	switch m["type"] {
	case "welcome":
		if c.user != "" && m["user"] != c.user {
			panic("the journal belongs to " + c.user)
		} else if m["session"] != c.session {
			c.store(object{"type": "welcome", "user": m["user"]})
			c.session = m.text("session")
			c.join(c.wanted)
			c.flush()
		}
	case "joined":
		delete(m, "members")
		c.store(m)
		if m["resume"] != "ok" { // what was dropped may have changed what was kept
			c.Warn(fmt.Sprint(m["room"], ": ", m["resume"], ", continues after entry ", m["after"]))
			for _, entry := range c.room(m.text("room")).shown {
				c.Show(entry)
			}
		}
	case "ack":
		c.store(m)
	case "message":
		if m.number("seq") == c.room(m.text("room")).last+1 {
			if shown := c.store(m); shown != nil {
				c.Show(shown)
			}
		}
	case "error":
		c.fail(m)
	case "closing":
		c.pause = time.Duration(m.number("reconnect_after_ms")) * time.Millisecond
	}
	if first != "" && (len(c.outbox) == 0 || c.outbox[0] != first) {
		c.flush()
	}
}

func (c *Client) fail(m object) {
	ref, name, session := m.text("ref"), m.text("room"), c.session
	isSend, isJoin := ref != "" && len(c.outbox) > 0 && c.outbox[0] == ref, m["re"] == "join" && name != ""
	if pause := m.number("retry_after_ms"); m["retry_after_ms"] != nil && (isSend || isJoin) {
		time.AfterFunc(time.Duration(pause)*time.Millisecond, func() {
			c.lock.Lock()
			defer c.lock.Unlock()
			if c.session == session && isSend {
				c.flush()
			} else if c.session == session {
				c.join([]string{name})
			}
		})
	} else if isSend {
		c.refuse(m.text("message")) // for good, also if the code is unknown
	} else if m["code"] != "superseded" {
		c.Warn(m.text("message"))
		if isJoin {
			c.wanted = without(c.wanted, name)
		}
	}
}

// refuse gives up the first line of the outbox.
func (c *Client) refuse(reason string) {
	line := c.sends[c.outbox[0]]
	c.Warn(fmt.Sprint("not sent to ", line["room"], ": ", reason))
	c.store(object{"type": "error", "room": line["room"], "id": line["id"], "message": reason})
}

// connect serves one connection. It returns its close code.
func (c *Client) connect(token string) int {
	dialer := websocket.Dialer{
		Subprotocols: []string{"relay.v1"}, EnableCompression: true, HandshakeTimeout: 10 * time.Second}
	socket, _, err := dialer.Dial(c.URL, nil)
	if err != nil {
		return websocket.CloseAbnormalClosure
	}
	defer socket.Close()
	socket.SetReadLimit(1 << 20)
	if c.socket = socket; token != "" {
		socket.WriteJSON(object{"type": "auth", "token": token})
	}
	for {
		_, text, err := socket.ReadMessage()
		c.lock.Lock()
		if err != nil {
			c.session = ""
			c.lock.Unlock()
			if closed, ok := err.(*websocket.CloseError); ok {
				return closed.Code
			}
			return websocket.CloseAbnormalClosure
		}
		if message, err := parse(text); err == nil {
			c.receive(message)
		}
		c.lock.Unlock()
	}
}

// Run connects, and connects again, until the relay forbids it. It returns the close code.
func (c *Client) Run() int {
	for failures := 0.0; ; {
		start, token := time.Now(), c.Token()
		c.pause = -1
		code := c.connect(token)
		if code == 1000 || code == 4403 || code == 4401 && c.Token() == token {
			return code
		}
		c.lock.Lock()
		if code == 1009 && len(c.outbox) > 0 {
			c.refuse("it is too large")
		}
		c.lock.Unlock()
		limit := time.Duration(math.Min(10, 0.2*math.Pow(2, failures)) * float64(time.Second))
		if failures = math.Min(failures+1, 6); time.Since(start) > limit {
			failures = 0
		}
		if c.pause < 0 {
			c.pause = time.Duration(random.Int63n(int64(limit)))
		}
		time.Sleep(c.pause)
	}
}
