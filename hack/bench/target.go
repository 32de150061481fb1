package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

const (
	// generatorCore and serverCore keep them apart.
	generatorCore = 0
	serverCore    = 1
)

// target is a ground-truth server in a process of its own.
type target struct {
	process *process.Process
	URL     string `json:"url"`
	Control string `json:"control"`
	// Certificate is that of a server over TLS, in PEM; ca is a file with it.
	Certificate string `json:"certificate"`
	ca          string
}

func (t *target) url() string         { return t.URL }
func (t *target) certificate() string { return t.ca }

// serve starts a ground-truth server with the arguments of its command.
func (b *bench) serve(core int, args ...string) (*target, error) {
	return b.serveBy("groundtruth", core, args...)
}

// serveBy starts a server that says and counts what the ground-truth server does.
func (b *bench) serveBy(program string, core int, args ...string) (*target, error) {
	p, err := process.Start(process.Command{Path: b.path(program), Args: args, Core: core})
	if err != nil {
		return nil, err
	}
	t := &target{process: p}
	if err = p.ReadJSON(t); err == nil && t.Certificate != "" {
		t.ca = b.path("groundtruth.pem")
		err = os.WriteFile(t.ca, []byte(t.Certificate), 0o600)
	}
	if err != nil {
		_, stopped := p.Stop()
		return nil, fmt.Errorf("start the server: %w, %w", err, stopped)
	}
	return t, nil
}

// stop ends it and returns its counts and its cost.
func (t *target) stop() (groundtruth.Counters, process.Usage, error) {
	c, err := t.counters()
	usage, stopped := t.process.Stop()
	if err == nil {
		err = stopped
	}
	return c, usage, err
}

func (t *target) counters() (c groundtruth.Counters, err error) {
	return c, t.fetch("/counters", &c)
}

func (t *target) records() (list []groundtruth.Record, err error) {
	return list, t.fetch("/records", &list)
}

func (t *target) fetch(path string, into any) error {
	resp, err := http.Get(t.Control + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(into)
}

// begun waits for the first request, which only the shop tells.
func (t *target) begun(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, t.Control+"/begun", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("wait for the first request: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("wait for the first request: %s", resp.Status)
	}
	return nil
}

// hold changes the latency; "" is none.
func (t *target) hold(latency string) error {
	r, err := http.NewRequest(http.MethodPut, t.Control+"/latency?is="+url.QueryEscape(latency), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("set the latency %s: %s", latency, resp.Status)
	}
	return nil
}
