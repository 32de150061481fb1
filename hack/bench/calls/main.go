package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// Started is the first line of output.
type Started struct {
	URL string `json:"url"`
}

func main() {
	hold := flag.Duration("d", 0, "how `long` each reply is held")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *hold); err != nil {
		fmt.Fprintln(os.Stderr, "calls:", err)
		os.Exit(1)
	}
}

// run serves until the input ends, and then writes what it counted.
func run(stdin io.Reader, stdout io.Writer, hold time.Duration) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &service{hold: hold}
	server := grpc.NewServer(grpc.WaitForHandlers(true)) // whose calls are counted
	healthpb.RegisterHealthServer(server, s)
	served := make(chan error, 1)
	go func() { served <- server.Serve(counted{listener, &s.connections}) }()
	out := json.NewEncoder(stdout)
	err = out.Encode(Started{URL: "http://" + listener.Addr().String()})
	if err == nil {
		_, err = io.Copy(io.Discard, stdin)
	}
	server.Stop()
	return errors.Join(err, <-served, out.Encode(s.counters()))
}
