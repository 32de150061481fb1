package peer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Protocol is what requests are sent over.
type Protocol string

const (
	// TCP and TLS are HTTP/1.1, without TLS and with it.
	TCP Protocol = "TCP"
	TLS Protocol = "TLS"
	// HTTP2 is over TLS, agreed by ALPN.
	HTTP2 Protocol = "HTTP/2"
	// GRPC is unary calls, over HTTP/2 without TLS, as is usual within a cluster.
	GRPC Protocol = "gRPC"
)

// Peer is a load generator.
type Peer struct {
	Name    string
	Version string
	// debian is its Debian package; those without one are built from the module
	// peers/module, or peers/Name.
	debian, module string
	// streams says that it can be told how many requests to have in flight on each connection.
	streams bool
	// start is how it is started over the protocols over which it is compared.
	start starts
}

type starts = map[Protocol]func(Load) Invocation

// source is the folder of its module.
func (p Peer) source() string { return cmp.Or(p.module, p.Name) }

// Over says whether it is compared over a protocol.
func (p Peer) Over(protocol Protocol) bool { return p.start[protocol] != nil }

// Streams says whether it is also compared with several requests in flight on a connection.
func (p Peer) Streams(over Protocol) bool {
	return p.streams && p.Over(over) && (over == HTTP2 || over == GRPC)
}

// All are the peers, in the order in which they are shown.
var All = []Peer{
	{Name: "wrk", Version: "Debian's", debian: "wrk", start: starts{TCP: wrk, TLS: wrk}},
	{Name: "bombardier", Version: "v1.2.6", start: starts{TCP: bombardier}},
	{Name: "vegeta", Version: "v12.13.0", start: starts{TCP: vegeta, TLS: vegeta, HTTP2: vegeta}},
	{Name: "hey", Version: "v0.1.4", start: starts{TCP: hey}},
	{Name: "k6", Version: "v1.8.1", start: starts{TCP: k6, TLS: k6, HTTP2: k6, GRPC: k6Calls}},
	{
		Name: "h2load", Version: "Debian's", debian: "nghttp2-client", streams: true,
		start: starts{TLS: h2load, HTTP2: h2load, GRPC: h2loadCalls},
	},
	{Name: "ghz", Version: "v0.121.0", streams: true, start: starts{GRPC: ghz}},
	{Name: "ghz, no templates", Version: "v0.121.0", module: "ghz", streams: true, start: starts{GRPC: ghzWithoutTemplates}},
}

// Named finds a peer.
func Named(name string) (Peer, error) {
	for _, p := range All {
		if p.Name == name {
			return p, nil
		}
	}
	return Peer{}, fmt.Errorf("no peer is called %q", name)
}

// Store is where peers are built, and from what.
type Store struct {
	// Modules is the folder of their modules, Cache that of the programs.
	Modules, Cache string
	// Log receives the slow parts.
	Log io.Writer
}

// Find returns the program of a peer, which it builds or installs if need be.
func (s Store) Find(ctx context.Context, p Peer) (path string, err error) {
	if p.debian != "" {
		return s.Debian(ctx, p.Name, p.debian)
	}
	path = filepath.Join(s.Cache, p.source()+"-"+p.Version)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	fmt.Fprintf(s.Log, "building %s %s (once; k6 takes minutes)\n", p.Name, p.Version)
	// Niced, and under another name until it is whole: a build that is cut must
	// not look like a program.
	partial := path + ".partial"
	build := exec.CommandContext(ctx, "nice", "go", "-C", filepath.Join(s.Modules, p.source()),
		"build", "-trimpath", "-buildvcs=false", "-o", partial, "tool")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s %s: %w: %s", p.Name, p.Version, err, lastLine(out))
	}
	return path, os.Rename(partial, path)
}

// Debian finds a command, or installs the package that has it.
func (s Store) Debian(ctx context.Context, command, debian string) (string, error) {
	if path, err := exec.LookPath(command); err == nil {
		return path, nil
	}
	if os.Geteuid() != 0 {
		return "", fmt.Errorf("%s is not installed; install it with: sudo apt-get install %s", command, debian)
	}
	fmt.Fprintf(s.Log, "installing %s\n", debian)
	install := exec.CommandContext(ctx, "apt-get", "-o", "DPkg::Lock::Timeout=300", "install", "-y", "-qq", "--no-install-recommends", debian)
	// RUNLEVEL=1 keeps the package from starting a service.
	install.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1")
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("apt-get install %s: %w: %s", debian, err, lastLine(out))
	}
	return exec.LookPath(command)
}

func lastLine(out []byte) string {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return string(lines[len(lines)-1])
}

// Closed is how the peer sends requests over so many connections, each as soon
// as the last was answered.
func (p Peer) Closed(over Protocol, l Load) (Invocation, error) {
	if l.Connections < 1 || l.Streams < 1 || l.Seconds < 1 || l.URL == "" {
		return Invocation{}, errors.New("load of a peer: needs a URL, connections, streams and whole seconds")
	}
	if !p.Over(over) {
		return Invocation{}, fmt.Errorf("%s is not compared over %s", p.Name, over)
	}
	if l.Streams > 1 && !p.Streams(over) {
		return Invocation{}, fmt.Errorf("%s has one request in flight on a connection over %s", p.Name, over)
	}
	return p.start[over](l), nil
}
