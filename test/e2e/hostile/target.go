package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// response is sent by a target: a start, and then more again and again, with a pause after
// each. Without more the connection is closed.
type response struct {
	start, more string
	pause       time.Duration
}

const (
	ok      = "HTTP/1.1 200 OK\r\n"
	chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
	// atOnce is how much is sent before a pause: with one of 20 ms 800 KB a second on each
	// connection, so that other processes of the machine have their share.
	atOnce = 16 << 10
	breath = 20 * time.Millisecond
)

// responses are by the path of the request.
var responses = map[string]response{
	"/body":       {ok + "\r\n", repeated("x"), breath},
	"/header":     {ok, repeated("X-Bomb: " + strings.Repeat("y", 100) + "\r\n"), breath},
	"/line":       {ok + "X-Bomb: ", repeated("y"), breath},
	"/interim":    {"", repeated("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n"), breath},
	"/extensions": {chunked, repeated("1;x\r\nx\r\n"), breath},
	"/chunks":     {chunked + "1\r\nx\r\nthis is no size\r\n", "", 0},
	"/deep":       {ok + "Connection: close\r\n\r\n" + strings.Repeat(`{"a":`, 180_000), "", 0},
	"/slow":       {ok + "Content-Length: 1000000\r\n\r\n", "x", 100 * time.Millisecond},
}

func repeated(text string) string { return strings.Repeat(text, 1+atOnce/len(text)) }

// serve responds on each connection of a listener until it is closed.
func serve(listener net.Listener) error {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			_ = respond(conn) // until the client has had enough
		}()
	}
}

// respond answers requests until one has a response without end, or there are no more.
func respond(conn net.Conn) error {
	for in := bufio.NewReader(conn); ; {
		request, err := http.ReadRequest(in)
		if err != nil {
			return err
		}
		r, known := responses[request.URL.Path]
		if !known {
			r.start = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
		}
		if _, err := io.WriteString(conn, r.start); err != nil {
			return err
		}
		if known {
			return goOn(conn, r)
		}
	}
}

func goOn(conn net.Conn, r response) error {
	if r.more == "" {
		return errors.New("that was all")
	}
	for {
		if _, err := io.WriteString(conn, r.more); err != nil {
			return err
		}
		time.Sleep(r.pause)
	}
}
