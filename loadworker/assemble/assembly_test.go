package assemble

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/test/same"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

func TestRefusals(t *testing.T) {
	server := workertest.NewTarget(t, nil)
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
		"two questions with faults": {
			change: func(a *workerv1.Assignment) {
				a.Preflight = []*workerv1.Request{
					{Name: "a", BodyFile: "/nowhere/a"}, {Name: "b", BodyFile: "/nowhere/b"},
				}
			},
			reason:  "InvalidSpec",
			message: "\npreflight[1].http \"b\": ",
		},
		"a load of an unknown kind": {
			change:  func(a *workerv1.Assignment) { a.Steps[0].Load = nil },
			reason:  "InvalidSpec",
			message: "step 0: no load of a known kind",
		},
		"more users than memory": {
			change: func(a *workerv1.Assignment) { a.Steps[0] = workertest.Burst(0, 100_000, 1) },
			config: func(c *Config) {
				c.Limits = health.Limits{Descriptors: 1 << 20, Ports: 1 << 20, Memory: 400 << 20}
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
		"a port that is closed": {
			change:  func(a *workerv1.Assignment) { a.Target.Url = "http://127.0.0.1:1" },
			reason:  "TargetUnreachable",
			message: "connection refused",
		},
		"a proxy that is closed": {
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
			c := testConfig()
			if tt.config != nil {
				tt.config(&c)
			}
			a := workertest.Assignment(server.URL, workertest.Burst(0, 1, 1))
			tt.change(a)
			if got := refusal(t, a, c); got.Reason != tt.reason || !strings.Contains(got.Error(), tt.message) {
				t.Errorf("refused for %s: %v, want %s: …%s…", got.Reason, got, tt.reason, tt.message)
			}
		})
	}
}

// What a worker sends follows from the seed, and from its number.
func TestRequestsFollowFromTheSeed(t *testing.T) {
	var mu sync.Mutex
	var got []string
	server := workertest.NewTarget(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.UserAgent()+" "+r.RequestURI)
	})
	a := workertest.Assignment(server.URL, workertest.Burst(0, 0, 1))
	a.Worker, a.Workers, a.Seed = 2, 3, 42
	a.Requests[0].Path = "/step/${worker}/${user}/${rand:0-1000000000}"
	a.Steps[0].Total, a.Steps[0].Share = 6, &workerv1.Share{First: 2, Stride: 3, Count: 2}
	ask := proto.CloneOf(a.Requests[0])
	ask.Path = "/preflight/${worker}/${seq}/${rand:0-1000000000}"
	a.Preflight = []*workerv1.Request{ask, ask}
	var want []string
	for _, v := range []source.Vars{{Worker: 2, User: 2, Seq: 2}, {Worker: 2, User: 5, Seq: 5}} {
		want = append(want, "loadtest-operator/test "+string(render(t, a, v).Path))
	}
	question := proto.CloneOf(a)
	question.Requests = a.Preflight
	for _, seq := range []int64{2, 3 + 2} { // of all workers, this one's
		want = append(want, "loadtest-operator/test "+string(render(t, question, source.Vars{Worker: 2, Seq: seq, Step: -3}).Path))
	}
	run(t, prepared(t, a, testConfig(), ignore))
	slices.Sort(want)
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(got)
	same.As(t, "sent", want, got)
}
