package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

// Started is the line that is printed.
type Started struct {
	// URL is the scheme and host of the server, Control those of its counters.
	URL     string `json:"url"`
	Control string `json:"control"`
	// Certificate is that of a server over TLS, in PEM.
	Certificate string `json:"certificate,omitempty"`
}

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "groundtruth:", err)
		os.Exit(2)
	}
}

func run(args []string, stdin io.Reader, stdout io.Writer) error {
	flags := flag.NewFlagSet("groundtruth", flag.ContinueOnError)
	config := groundtruth.Config{Routes: map[string]groundtruth.Route{}}
	flags.StringVar(&config.Address, "address", "127.0.0.1:0", "IPv4 `address:port` to serve on")
	flags.IntVar(&config.Loops, "loops", 1, "event loops, one for each `core`")
	flags.Uint64Var(&config.Seed, "seed", 1, "`seed` of the latencies")
	flags.IntVar(&config.Record, "record", 0, "keep records of that many requests, the latest")
	hold := flags.Duration("d", 0, "hold each response for that `long`")
	overTLS := flags.Bool("tls", false, "serve over TLS by net/http; only -d applies then")
	flags.Func("route", "`name=reply[@latency]` for paths that begin with /name; an empty name is for all others", func(text string) error {
		name, route, err := groundtruth.ParseRoute(text)
		config.Routes[name] = route
		return err
	})
	flags.Func("event", "`kind:from:for` of a stall, reset or refuse, from the first request on", func(text string) error {
		e, err := groundtruth.ParseEvent(text)
		config.Script = append(config.Script, e)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *hold > 0 {
		r := config.Routes[""]
		r.Latency = groundtruth.Fixed(*hold)
		config.Routes[""] = r
	}
	started, handler, stop, err := start(config, *overTLS, *hold)
	if err != nil {
		return err
	}
	defer stop()
	return serve(started, handler, stdin, stdout)
}

func start(config groundtruth.Config, overTLS bool, hold time.Duration) (Started, http.Handler, func(), error) {
	if overTLS {
		var latency groundtruth.Latency
		if hold > 0 {
			latency = groundtruth.Fixed(hold)
		}
		s := groundtruth.StartTLS(latency)
		return Started{URL: s.URL(), Certificate: string(s.Certificate())}, s.Control(), s.Close, nil
	}
	s, err := groundtruth.Start(config)
	if err != nil {
		return Started{}, nil, nil, err
	}
	return Started{URL: s.URL()}, s.Control(), s.Close, nil
}

// serve serves the counters until the standard input ends.
func serve(started Started, handler http.Handler, stdin io.Reader, stdout io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	control := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = control.Serve(listener) }() // ends with Close
	defer func() { _ = control.Close() }()
	started.Control = "http://" + listener.Addr().String()
	if err := json.NewEncoder(stdout).Encode(started); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, stdin)
	return err
}
