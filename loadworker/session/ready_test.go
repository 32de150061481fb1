package session

import (
	"context"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

func TestRefusals(t *testing.T) {
	server := newTarget(t, nil)
	tests := map[string]struct {
		change  func(*workerv1.Assignment)
		config  func(*Config)
		reason  string
		message string
	}{
		"an unknown variable": {
			change:  func(a *workerv1.Assignment) { a.Requests[0].Body = []byte("${foo}") },
			reason:  "InvalidSpec",
			message: `request "read": body: unknown variable ${foo}`,
		},
		"two faults": {
			change:  func(a *workerv1.Assignment) { a.Requests[0].Path, a.Requests[0].Body = "/${foo}", []byte("${bar}") },
			reason:  "InvalidSpec",
			message: "${foo}; ",
		},
		// The protocol takes no other text: such a refusal would never arrive.
		"a fault whose text is not UTF-8": {
			change:  func(a *workerv1.Assignment) { a.Requests[0].Body = []byte("${caf\xe9}") },
			reason:  "InvalidSpec",
			message: "unknown variable ${caf\uFFFD}; known are",
		},
		"two questions with faults": {
			change: func(a *workerv1.Assignment) {
				a.Preflight = []*workerv1.Request{
					{Name: "a", BodyFile: "/nowhere/a"}, {Name: "b", BodyFile: "/nowhere/b"},
				}
			},
			reason:  "InvalidSpec",
			message: `; preflight[1].request "b": `,
		},
		"a load of an unknown kind": {
			change:  func(a *workerv1.Assignment) { a.Steps[0].Load = nil },
			reason:  "InvalidSpec",
			message: "step 0: no load of a known kind",
		},
		"more users than descriptors": {
			change:  func(a *workerv1.Assignment) { a.Steps[0] = burst(0, 2500, 1) },
			config:  func(c *Config) { c.Limits = func() Limits { return Limits{Descriptors: 1064, Ports: 28232} } },
			reason:  "WorkerRefused",
			message: "step 0 gives the worker 2500 users, but it can hold 1000 connections (1064 file descriptors, 28232 ports): set spec.parallelism to 3 or more",
		},
		"more users than memory": {
			change: func(a *workerv1.Assignment) { a.Steps[0] = burst(0, 100_000, 1) },
			config: func(c *Config) {
				c.Limits = func() Limits { return Limits{Descriptors: 1 << 20, Ports: 1 << 20, Memory: 400 << 20} }
			},
			reason:  "WorkerRefused",
			message: "step 0 gives the worker 100000 users, which take ",
		},
		"a loopback address": {
			change:  func(a *workerv1.Assignment) { a.Target.AllowSpecialAddresses = false },
			reason:  "TargetUnreachable",
			message: "address 127.0.0.1 is refused: a loopback address",
		},
		"a name that does not resolve": {
			change: func(a *workerv1.Assignment) { a.Target.Url = "http://nowhere.invalid" },
			config: func(c *Config) {
				c.Lookup = func(context.Context, string) ([]netip.Addr, error) { return nil, nil }
			},
			reason:  "TargetUnreachable",
			message: "target http://nowhere.invalid: resolve: lookup nowhere.invalid: no address",
		},
		"a port that nobody listens on": {
			change:  func(a *workerv1.Assignment) { a.Target.Url = "http://127.0.0.1:1" },
			reason:  "TargetUnreachable",
			message: "connection refused",
		},
		"a proxy that nobody listens on": {
			change:  func(a *workerv1.Assignment) { a.Target.ProxyUrl = "http://127.0.0.1:1" },
			reason:  "TargetUnreachable",
			message: " by proxy http://127.0.0.1:1: dial: ",
		},
		"a proxy at a loopback address": {
			change: func(a *workerv1.Assignment) {
				a.Target.Url, a.Target.ProxyUrl, a.Target.AllowSpecialAddresses = "http://shop.test", server.URL, false
			},
			reason:  "TargetUnreachable",
			message: "address 127.0.0.1 is refused: a loopback address",
		},
		"a target behind a proxy at a metadata service's address": {
			change: func(a *workerv1.Assignment) {
				a.Target.Url, a.Target.ProxyUrl, a.Target.AllowSpecialAddresses = "http://100.100.100.200", server.URL, false
			},
			reason:  "InvalidSpec",
			message: "target url: address 100.100.100.200 is refused: a metadata service's address",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := startCoordinator(t)
			w := startWorker(t, c, func(c *Config) {
				if tt.config != nil {
					tt.config(c)
				}
			})
			a := assignment(server.URL, burst(0, 1, 1))
			tt.change(a)
			s := c.hello(t)
			s.say(t, assign(a))
			got := c.readiness(t)
			if got.GetReady() || got.GetReason() != tt.reason || !strings.Contains(got.GetMessage(), tt.message) {
				t.Errorf("readiness = %v, want %s: …%s…", got, tt.reason, tt.message)
			}
			s.say(t, finish())
			w.ends(t, nil)
		})
	}
}

func TestReadyOnceTheTargetResolves(t *testing.T) {
	server := newTarget(t, nil)
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	var there atomic.Bool
	c := startCoordinator(t)
	w := startWorker(t, c, func(c *Config) {
		c.Lookup = func(context.Context, string) ([]netip.Addr, error) {
			if there.Load() {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			return nil, nil
		}
	})
	s := c.hello(t)
	s.say(t, assign(assignment("http://late.test"+port, burst(0, 1, 1))))
	if r := c.readiness(t); r.GetReason() != "TargetUnreachable" {
		t.Errorf("readiness = %v, want TargetUnreachable", r)
	}
	there.Store(true)
	c.ready(t)
	s.say(t, finish())
	w.ends(t, nil)
}
