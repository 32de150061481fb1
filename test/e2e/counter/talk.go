package main

import (
	"net/http"

	"golang.org/x/net/websocket"
)

// talk counts a connection of WebSocket under NAME, each message that comes under NAME-came, and answers it
// by the same, which is counted under NAME-sent before it is written. After so many answers as close says, the
// server closes the connection with code; after so many as abort says, it ends it without a close; after so
// many as silent says, it answers no more.
func (t *target) talk(w http.ResponseWriter, r *http.Request, name string) {
	q := r.URL.Query()
	closes, aborts, silent := number(q.Get("close")), number(q.Get("abort")), number(q.Get("silent"))
	websocket.Server{Handler: func(conn *websocket.Conn) {
		if t.counts.add(name, received) != nil {
			panic(http.ErrAbortHandler)
		}
		for n := 1; ; n++ {
			var message string
			if websocket.Message.Receive(conn, &message) != nil {
				return
			}
			if t.counts.add(name+"-came", received) != nil {
				panic(http.ErrAbortHandler)
			}
			if silent > 0 && n > silent {
				continue
			}
			if t.counts.add(name+"-sent", received) != nil {
				panic(http.ErrAbortHandler)
			}
			_ = websocket.Message.Send(conn, message) // what fails is the connection
			switch n {
			case closes:
				_ = conn.WriteClose(number(q.Get("code")))
				_ = websocket.Message.Receive(conn, &message) // until the client has closed it
				return
			case aborts:
				panic(http.ErrAbortHandler)
			}
		}
	}}.ServeHTTP(w, r)
}
