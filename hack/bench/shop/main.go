package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

// Started is the first line of output.
type Started struct {
	URL     string `json:"url"`
	Control string `json:"control"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

// run serves until the input ends.
func run(stdin io.Reader, stdout io.Writer) error {
	s := newShop()
	visits, err := listen(s)
	if err != nil {
		return err
	}
	defer visits.Close()
	control, err := listen(s.control())
	if err != nil {
		return err
	}
	defer control.Close()
	started := Started{URL: "http://" + visits.Addr, Control: "http://" + control.Addr}
	if err := json.NewEncoder(stdout).Encode(started); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, stdin)
	return err
}

// listen serves on a port that nothing else has.
func listen(h http.Handler) (*http.Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Addr: listener.Addr().String(), Handler: h}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, "shop:", err)
			os.Exit(1)
		}
	}()
	return server, nil
}
