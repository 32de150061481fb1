package session

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/testing/protocmp"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/assemble"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/test/same"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// The protocol takes no other text: a message that is not UTF-8 would never arrive.
func TestMessagesAreOneLineOfUTF8(t *testing.T) {
	err := errors.Join(errors.New("caf\xe9"), failure.Withhold("s3cret", "malformed"))
	if got, want := oneLine(err, false), "caf\uFFFD; malformed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := oneLine(err, true), `caf`+"\uFFFD"+`; malformed; the target sent "s3cret"`; got != want {
		t.Errorf("exposed: %q, want %q", got, want)
	}
}

// A refusal reaches the coordinator, whichever part of the assembly it is of.
func TestRefusalsReachTheCoordinator(t *testing.T) {
	server := workertest.NewTarget(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"key":"s3cret"}`) })
	version := &workerv1.Request{Name: "version", Method: "GET", Path: "/", ExpectedJson: []*workerv1.ExpectedValue{{Path: ".key", Equals: "k"}}}
	const notQuoted = `preflight: version: .key: a string of 6 bytes instead of "k"`
	tests := map[string]struct {
		change func(*workerv1.Assignment)
		config func(*Config)
		want   *workerv1.Readiness
	}{
		"too few descriptors": {
			config: func(c *Config) { c.Assembly.Limits = health.Limits{Descriptors: 1, Ports: 1} },
			want:   &workerv1.Readiness{Reason: "WorkerRefused", Message: "the worker may open 1 files"},
		},
		"a loopback address": {
			change: func(a *workerv1.Assignment) { a.Target.AllowSpecialAddresses = false },
			want:   &workerv1.Readiness{Reason: "TargetUnreachable", Message: "target " + server.URL + ": "},
		},
		"a preflight that fails": {
			change: func(a *workerv1.Assignment) {
				a.Preflight = []*workerv1.Request{{Name: "version", Method: "GET", Path: "/", ExpectedStatus: []int32{418}}}
			},
			want: &workerv1.Readiness{Reason: "PreflightFailed", Message: "preflight: version: status 200 OK instead of 418"},
		},
		"a body of a preflight, which is not quoted": {
			change: func(a *workerv1.Assignment) { a.Preflight = []*workerv1.Request{version} },
			want:   &workerv1.Readiness{Reason: "PreflightFailed", Message: notQuoted},
		},
		"a body of a preflight, which is exposed": {
			change: func(a *workerv1.Assignment) { a.Preflight, a.ExposeResponses = []*workerv1.Request{version}, true },
			want:   &workerv1.Readiness{Reason: "PreflightFailed", Message: notQuoted + `; the target sent "s3cret"`},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := startFakeCoordinator(t)
			w := startWorker(t, c, func(c *Config) {
				if tt.config != nil {
					tt.config(c)
				}
			})
			a := workertest.Assignment(server.URL, workertest.Burst(0, 1, 1))
			if tt.change != nil {
				tt.change(a)
			}
			s := c.waitForHello(t)
			s.send(t, assign(a))
			got := c.waitFor(t, "a refusal", func(m *workerv1.SessionRequest) bool { return m.GetReadiness().GetReason() != "" }).message.GetReadiness()
			if got.GetReady() || got.GetReason() != tt.want.GetReason() || !strings.HasPrefix(got.GetMessage(), tt.want.GetMessage()) ||
				strings.Contains(got.GetMessage(), "s3cret") != strings.Contains(tt.want.GetMessage(), "s3cret") {
				t.Errorf("readiness = %v, want %v…", got, tt.want)
			}
			w.finish(t, s)
		})
	}
}

func TestReadinessOfAPreparation(t *testing.T) {
	faults := errors.Join(errors.New("one"), errors.New("two"))
	tests := map[string]struct {
		preparation preparation
		want        *workerv1.Readiness
	}{
		"ready":       {preparation{assembly: &assemble.Assembly{}}, &workerv1.Readiness{Ready: true}},
		"in progress": {preparation{notReady: errors.New("3 of 7")}, &workerv1.Readiness{Message: "3 of 7"}},
		"refused":     {preparation{notReady: &assemble.Refusal{Reason: "R", Err: faults}}, &workerv1.Readiness{Reason: "R", Message: "one; two"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "readiness", tt.want, tt.preparation.readiness(), protocmp.Transform())
		})
	}
}

func TestReadyOnceTheTargetResolves(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	var there atomic.Bool
	c := startFakeCoordinator(t)
	w := startWorker(t, c, func(c *Config) {
		c.Assembly.Lookup = func(context.Context, string) ([]netip.Addr, error) {
			if there.Load() {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			return nil, nil
		}
	})
	s := c.waitForHello(t)
	s.send(t, assign(workertest.Assignment("http://late.test"+port, workertest.Burst(0, 1, 1))))
	if r := c.waitForReadiness(t); r.GetReason() != "TargetUnreachable" {
		t.Errorf("readiness = %v, want TargetUnreachable", r)
	}
	there.Store(true)
	c.waitUntilReady(t)
	w.finish(t, s)
}

// A coordinator is told how far the setup is, and how many questions of the preflight
// were answered.
func TestReadinessReportsTheSetup(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	c := startFakeCoordinator(t)
	w := startWorker(t, c)
	a := workertest.Assignment(server.URL, workertest.Burst(0, 1, 1))
	a.Setup = &workerv1.Setup{WarmUp: &workerv1.WarmUp{DurationNanos: 1e6}}
	a.Preflight = []*workerv1.Request{{Name: "version", Method: "GET", Path: "/"}}
	s := c.waitForHello(t)
	s.send(t, assign(a))
	var messages []string
	last := c.waitFor(t, "that it is ready", func(m *workerv1.SessionRequest) bool {
		if r := m.GetReadiness(); r != nil && !r.GetReady() {
			messages = append(messages, r.GetReason()+r.GetMessage())
		}
		return m.GetReadiness().GetReady()
	}).message.GetReadiness()
	// A message that is not sent yet gives way to the next.
	for _, m := range messages {
		if m != "preflight: the target is being asked" && m != "setup: the target is warmed up for 1ms" {
			t.Errorf("it reports %q", m)
		}
	}
	if last.GetPreflightAnswers() != 1 {
		t.Errorf("%d questions were answered, want 1", last.GetPreflightAnswers())
	}
	w.finish(t, s)
}
