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

// Peer is a load generator.
type Peer struct {
	Name    string
	Version string
	// HTTP2 says that its requests are compared over HTTP/2, instead of HTTP/1.1.
	HTTP2 bool
	// Streams says that it can have several requests in flight on a connection.
	Streams bool
	// debian is its Debian package; those without one are built from the module
	// peers/module, or peers/Name.
	debian, module string
	// closed and calls are how it is started to send requests, and calls of gRPC; nil: it
	// cannot, or it is no comparison.
	closed, calls func(Load) Invocation
}

// source is the folder of its module.
func (p Peer) source() string { return cmp.Or(p.module, p.Name) }

// Requests says that it is compared over HTTP.
func (p Peer) Requests() bool { return p.closed != nil }

// Calls says that it is compared over gRPC.
func (p Peer) Calls() bool { return p.calls != nil }

// All are the peers, in the order in which they are shown.
var All = []Peer{
	{Name: "wrk", Version: "Debian's", debian: "wrk", closed: wrk},
	{Name: "bombardier", Version: "v1.2.6", closed: bombardier},
	{Name: "vegeta", Version: "v12.13.0", closed: vegeta},
	{Name: "hey", Version: "v0.1.4", closed: hey},
	{Name: "k6", Version: "v1.8.1", closed: k6, calls: k6Calls},
	{Name: "h2load", Version: "Debian's", HTTP2: true, Streams: true, debian: "nghttp2-client", closed: h2load, calls: h2loadCalls},
	{Name: "ghz", Version: "v0.121.0", Streams: true, calls: ghz},
	{Name: "ghz, no templates", Version: "v0.121.0", module: "ghz", Streams: true, calls: ghzWithoutTemplates},
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
	install := exec.CommandContext(ctx, "apt-get", "install", "-y", "-qq", "--no-install-recommends", debian)
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
func (p Peer) Closed(l Load) (Invocation, error) {
	if l.Connections < 1 || l.Streams < 1 || l.Seconds < 1 || l.URL == "" {
		return Invocation{}, errors.New("load of a peer: needs a URL, connections, streams and whole seconds")
	}
	if l.Streams > 1 && !p.Streams {
		return Invocation{}, fmt.Errorf("%s has one request in flight on a connection", p.Name)
	}
	start, what := p.closed, "HTTP"
	if l.Call != nil {
		start, what = p.calls, "gRPC"
	}
	if start == nil {
		return Invocation{}, fmt.Errorf("%s is not compared over %s", p.Name, what)
	}
	return start(l), nil
}
