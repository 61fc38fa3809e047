// Usage: chat URL JOURNAL ROOM..., such as
//
//	chat 'ws://127.0.0.1:8080/ws?user=ada' ada.journal general
//
// A line of the input goes to the first room; one that begins with `{` has the fields of a `send`.
// Every text is printed as JSON, and again when it is edited, deleted or reacted to. After the last
// line the program waits until all are acknowledged and shown. TOKEN_FILE may name a file that
// contains a token.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

func warn(reason string) { fmt.Fprintln(os.Stderr, "--", reason) }

func fatal(reason string) {
	warn(reason)
	os.Exit(1)
}

func show(entry object) {
	text, _ := json.Marshal(entry)
	fmt.Println(string(text))
}

func token() string {
	text, _ := os.ReadFile(os.Getenv("TOKEN_FILE"))
	return strings.TrimSpace(string(text))
}

// endIfFinished ends the program if every line is settled and shown. It does so under the lock, so
// that Run does not return first.
func endIfFinished(c *Client) {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, name := range c.wanted {
		if r := c.room(name); r.own > r.last {
			return
		}
	}
	if len(c.outbox) > 0 {
		return
	}
	if c.session != "" {
		bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
		c.socket.WriteMessage(websocket.CloseMessage, bye)
	}
	os.Exit(0)
}

func main() {
	url, journal, rooms := os.Args[1], os.Args[2], os.Args[3:]
	client := &Client{URL: url, Show: show, Warn: warn, Token: token}
	if err := client.Open(journal, rooms); err != nil {
		fatal(err.Error())
	}
	for _, room := range client.rooms {
		for _, entry := range room.shown {
			show(entry)
		}
	}
	ended := make(chan int)
	go func() { ended <- client.Run() }()
	go func() {
		lines := bufio.NewScanner(os.Stdin)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			fields := object{"room": rooms[0], "text": lines.Text()}
			if strings.HasPrefix(lines.Text(), "{") {
				given, err := parse(lines.Bytes())
				if err != nil {
					fatal(err.Error())
				}
				delete(fields, "text")
				fields = fields.and(given)
			}
			if fields["text"] != "" {
				client.Say(fields.text("room"), fields)
			}
		}
		for ; ; time.Sleep(50 * time.Millisecond) {
			endIfFinished(client)
		}
	}()
	fatal(fmt.Sprint("closed with ", <-ended))
}
