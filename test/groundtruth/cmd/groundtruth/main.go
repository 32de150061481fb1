package main

import (
	"crypto/tls"
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
	flags.Uint64Var(&config.Seed, "seed", 1, "`seed` of the latencies and of the jitter of streams")
	flags.IntVar(&config.Record, "record", 0, "keep records of that many requests, the latest")
	flags.IntVar(&config.Every, "every", 0, "leave out of the records the requests whose number at the end of the path this does not `divide`")
	flags.IntVar(&config.Times, "times", 0, "of each record of a stream, keep when that many `events` were written, the first")
	flags.BoolVar(&config.Stamp, "stamp", false, "keep in records when the kernel had received a request, over http1")
	hold := flags.Duration("d", 0, "hold each response for that `long`")
	flags.StringVar((*string)(&config.Protocol), "protocol", string(groundtruth.HTTP1), "`protocol`: http1, tls, h2 (over TLS) or h2c")
	control := flags.String("control", "127.0.0.1:0", "`address:port` where the counters are read and latencies are changed; it asks for no credentials")
	certificate := flags.String("certificate", "", "`file` of a certificate for TLS, and its key, in PEM")
	flags.Func("route", "`name=reply[@latency]` for paths that begin with /name; an empty name is for all others; replies are such as ok:64, status:503:0, grpc:0:64, reset, frame:data-idle or stream:20:200ms:20ms:5ms (events, time of the first, time between two, jitter), with options such as stall=10,2s, reset=10 or format=lines: see ParseReply", func(text string) error {
		name, route, err := groundtruth.ParseRoute(text)
		config.Routes[name] = route
		return err
	})
	flags.Func("event", "`kind:from:for` of a stall, reset, refuse, goaway or slow, from the first request on", func(text string) error {
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
	if *certificate != "" {
		pair, err := tls.LoadX509KeyPair(*certificate, *certificate)
		if err != nil {
			return err
		}
		config.Certificate = &pair
	}
	s, err := groundtruth.Start(config)
	if err != nil {
		return err
	}
	defer s.Close()
	return serve(Started{URL: s.URL(), Certificate: string(s.Certificate())}, *control, s.Control(), stdin, stdout)
}

// serve serves the counters until the standard input ends.
func serve(started Started, address string, handler http.Handler, stdin io.Reader, stdout io.Writer) error {
	listener, err := net.Listen("tcp", address)
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
