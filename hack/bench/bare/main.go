package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
)

// Reply is the reply to every request.
type Reply struct {
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// Started is the line of output.
type Started struct {
	URL string `json:"url"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}

// run serves until the input ends.
func run(stdin io.Reader, stdout io.Writer) error {
	in := bufio.NewReader(stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read the reply from standard input: %w", err)
	}
	var reply Reply
	if err := json.Unmarshal(line, &reply); err != nil {
		return fmt.Errorf("reply: %w", err)
	}
	if reply.Status < 200 || reply.Status > 999 {
		return fmt.Errorf("status is %d: use 200 to 999", reply.Status)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: reply}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	err = json.NewEncoder(stdout).Encode(Started{URL: "http://" + listener.Addr().String()})
	if err == nil {
		_, err = io.Copy(io.Discard, in)
	}
	if err := errors.Join(err, server.Close()); err != nil {
		return err
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (p Reply) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// An error is a client that went away; net/http finds that out as well.
	_, _ = io.Copy(io.Discard, r.Body)
	maps.Copy(w.Header(), p.Header)
	w.WriteHeader(p.Status)
	if len(p.Body) > 0 {
		_, _ = w.Write(p.Body)
	}
}
