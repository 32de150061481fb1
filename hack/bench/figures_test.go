package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/message"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// All steps of a benchmark are in the assignments of its workers, and the target may
// be on this machine.
func TestAllStepsAreAssignedAtOnce(t *testing.T) {
	a, err := assignment(loadTest("http://x", 2,
		harness.ClosedUsers(5, time.Second), harness.PacedUsers(5, "0.6", 2*time.Second), harness.Burst(5, 1), arrivals(3, 2*time.Second)), 1)
	must.Succeed(t, err)
	share := &workerv1.Share{First: 1, Stride: 2, Count: 2}
	want := []*workerv1.Step{
		{Index: 0, RemainingNanos: 430e9, Total: 5, Share: share, Load: &workerv1.Step_ClosedUsers{ClosedUsers: &workerv1.ClosedUsers{DurationNanos: 1e9}}},
		{Index: 1, RemainingNanos: 339e9, Total: 5, Share: share, Load: &workerv1.Step_PacedUsers{PacedUsers: &workerv1.PacedUsers{TotalRateMicros: 3e6, DurationNanos: 2e9}}},
		{Index: 2, RemainingNanos: 247e9, Total: 5, Share: share, Load: &workerv1.Step_Burst{Burst: &workerv1.Burst{RequestsPerUser: 1, LimitNanos: 65e9}}},
		{Index: 3, RemainingNanos: 92e9, Total: 6, Share: &workerv1.Share{First: 1, Stride: 2, Count: 3}, Load: &workerv1.Step_Arrivals{Arrivals: &workerv1.Arrivals{TotalRateMicros: 3e6, DurationNanos: 2e9}}},
	}
	same.As(t, "steps", want, a.GetSteps(), protocmp.Transform())
	if to := a.GetTarget(); to.GetUrl() != "http://x" || !to.GetAllowSpecialAddresses() || to.GetTimeoutNanos() != int64(time.Minute) {
		t.Errorf("the target is %v, want a minute for each request, on this machine", to)
	}
}

// Calls have descriptors that the worker can read, and a number that the server records.
func TestCallsAreAssignedWithTheirDescriptors(t *testing.T) {
	lt := speak(overGRPC, loadTest("http://x", 1, arrivals(3, time.Second)))
	a, err := assignment(lt, 0)
	must.Succeed(t, err)
	path, err := (&bench{work: t.TempDir()}).descriptors()
	must.Succeed(t, err)
	set := must.ReadFile(t, path)
	descriptors, err := message.Read(set)
	must.Succeed(t, err)
	r := a.GetRequests()[0]
	if _, err := descriptors.Method(r.GetCall().GetMethod()); err != nil {
		t.Error(err)
	}
	if h := r.GetHeaders(); len(h) != 1 || h[0].GetName() != groundtruth.NumberHeader || h[0].GetValue() != "${seq}" {
		t.Errorf("headers %v, want the number of the request", h)
	}
	if a.GetTarget().GetDescriptorsFile() == "" || a.GetTarget().GetProtocol() != workerv1.Protocol_PROTOCOL_HTTP2 {
		t.Errorf("the target is %v", a.GetTarget())
	}
}

func TestRepetitionsGiveTheirMedian(t *testing.T) {
	b := &bench{options: options{rounds: 3}}
	values := []float64{7, 1, 3}
	next := func() (float64, error) {
		v := values[0]
		values = values[1:]
		return v, nil
	}
	if got, err := repeat(t.Context(), b, next); got != 3 || err != nil {
		t.Errorf("repeat = %v, %v; want the median, 3", got, err)
	}
	failure := errors.New("no")
	if _, err := repeat(t.Context(), b, func() (float64, error) { return 0, failure }); !errors.Is(err, failure) {
		t.Errorf("repeat of what fails = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := repeat(ctx, b, func() (float64, error) { cancel(); return 1, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("repeat = %v, want that it ends with its context", err)
	}
}

// perSecondOf is a result of that many requests in a second, for which the
// generator computed half of it, and the server a quarter.
func perSecondOf(requests int64) sample {
	s := sampled(requests)
	s.generator.CPU, s.server.CPU, s.generator.PeakRSS = time.Second/2, time.Second/4, 3e6
	s.counters.Connections = 64
	return s
}

func TestRatesAreThoseOfTheMedianRound(t *testing.T) {
	var out strings.Builder
	b := &bench{out: &out}
	ours, wrk := contender{name: ourUsers, over: overTCP}, contender{name: "wrk", over: overTCP}
	secure := contender{name: ourUsers, over: overTLS}
	b.writeRates([]contender{ours, wrk, secure}, map[key][]sample{
		ours.key():   {perSecondOf(999), perSecondOf(99), perSecondOf(1999)},
		wrk.key():    {perSecondOf(3996)},
		secure.key(): {perSecondOf(499)},
	})
	want := "" +
		"| generator         | over | req/s (min..max) | x wrk | x vegeta | x k6 | x h2load | x ghz | CPU us/req | cores | server us/req | server cores | RSS MB | connections |\n" +
		"| ----------------- | ---- | ---------------- | ----- | -------- | ---- | -------- | ----- | ---------- | ----- | ------------- | ------------ | ------ | ----------- |\n" +
		"| loadworker, users | TCP  | 999 (99..1999)   | 0.25  |          |      |          |       | 500.00     | 0.50  | 250.00        | 0.25         | 3.0    | 64          |\n" +
		"| wrk               | TCP  | 3996 (3996..3996) | 1.00  |          |      |          |       | 125.09     | 0.50  | 62.55         | 0.25         | 3.0    | 64          |\n" +
		"| loadworker, users | TLS  | 499 (499..499)   |       |          |      |          |       | 1000.00    | 0.50  | 500.00        | 0.25         | 3.0    | 64          |\n"
	same.As(t, "rates", strings.Fields(want), strings.Fields(out.String()), ignoreRules)
}

// ignoreRules makes the lines below a table's head alike, however wide they are.
var ignoreRules = cmp.Transformer("rules", func(s string) string {
	if len(s) > 1 && strings.Trim(s, "-") == "" {
		return "-"
	}
	return s
})

func TestScaleReportsItsPeaksAndItsErrors(t *testing.T) {
	report := func(second func(*flight)) (string, string, error) {
		var out strings.Builder
		x := &fleet{rss: 2_900_000, steps: []flight{flown(nil), flown(second)}}
		x.steps[0].total.Expected, x.steps[0].inFlight, x.steps[0].open = 98, 90, 101
		last, err := x.report(&bench{options: options{users: 100}, out: &out})
		return last, out.String(), err
	}
	last, out, err := report(func(f *flight) { f.total.Expected, f.inFlight, f.open = 99, 7, 100 })
	if want := "bench-scale: users=101 inflight=90 rss-mb=2 errors=3"; last != want || err != nil {
		t.Errorf("last line %q, %v; want %q", last, err, want)
	}
	for _, want := range []string{
		"one request of each, held 20s ", "| 100 | 100  | 0      | 100    | 90                | 101         | 2 ", "| 7                 | 100         | 1 ", "\nConclusive: ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the report does not contain %q:\n%s", want, out)
		}
	}
	last, _, _ = report(func(f *flight) { f.total.Expected, f.inFlight, f.open = 100, 95, 107 })
	if want := "bench-scale: users=107 inflight=95 rss-mb=2 errors=2"; last != want {
		t.Errorf("last line %q, want %q: either step may have the peaks", last, want)
	}
	if _, _, err = report(func(f *flight) { f.measured.Due = 101 }); err == nil || err.Error() != "101 due is not 100 sent and 0 unsent" {
		t.Errorf("report of figures that do not add up = %v", err)
	}
}

// The figures of a fleet are those of all its servers.
func TestFleetSumsAllServers(t *testing.T) {
	x := &fleet{}
	for i := range 2 {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/counters" {
				w.WriteHeader(http.StatusNotFound)
			}
			_, _ = fmt.Fprintf(w, `{"requests":%d,"inFlight":%d,"open":%d}`, 10+i, 20+i, 30+i)
		}))
		t.Cleanup(s.Close)
		x.servers = append(x.servers, &target{Control: s.URL})
	}
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	got, err := x.look()
	want := groundtruth.Counters{Requests: 21, InFlight: 41, Open: 61}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("look: %v (-want +got):\n%s", err, diff)
	}
	must.Say(t, x.servers[0].hold("fixed:1s"), "set the latency fixed:1s: 404")
}

func TestQuantilesAreShownAsTheyAreRecorded(t *testing.T) {
	truth := make([]time.Duration, 1000)
	for i := range truth {
		truth[i] = time.Duration(i+1) * time.Millisecond
	}
	want := []any{"truth", 1000, "500.00 ms", "900.00 ms", "990.00 ms", "999.00 ms", "1000.00 ms"}
	same.As(t, "row", want, quantilesOf("truth", truth))
	same.As(t, "share of the p99", "50.00%", share(495*time.Millisecond, truth))
	h := measure.NewMeasurement(1).Lateness
	same.As(t, "a quantile of nothing", "", reported(h, 0.5))
	for range 100 {
		h.Record(2500 * time.Microsecond)
	}
	same.As(t, "the median of 2.5 ms", "2.50 ms", reported(h, 0.5))
	if got := []string{quantileName(0.5), quantileName(0.999)}; !cmp.Equal(got, []string{"p50", "p99.9"}) {
		t.Errorf("quantiles are called %v", got)
	}
}

// After each link was requested once, a lookup past the cache is an error.
func TestLookupsPastTheCacheAreErrors(t *testing.T) {
	tests := map[string]struct{ page, want string }{
		"each once":         {"shortener_cache_misses_total 899\nshortener_cache_failures_total 1\n", ""},
		"one more":          {"shortener_cache_misses_total 899\nshortener_cache_failures_total 2\n", "1 redirects were not answered from the cache, want none"},
		"nothing of misses": {"shortener_cache_failures_total 2\n", "metrics have no series shortener_cache_misses_total"},
		"nor of failures":   {"shortener_cache_misses_total 2\n", "metrics have no series shortener_cache_failures_total"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(tt.page)) }))
			t.Cleanup(s.Close)
			t.Cleanup(asker.CloseIdleConnections)
			got := ""
			if err := (&testEnv{cached: &service{url: s.URL}}).allFromCache(); err != nil {
				got = err.Error()
			}
			same.As(t, "allFromCache", tt.want, got)
		})
	}
}

// All processes end in reverse order of their start, also after errors.
func TestProcessesEndInReverseOrder(t *testing.T) {
	var order []int
	x := &testEnv{}
	first, second := errors.New("first"), errors.New("second")
	for i, err := range []error{first, nil, second} {
		x.closers = append(x.closers, func() error { order = append(order, i); return err })
	}
	before := errors.New("before")
	err := closing(before, x)
	same.As(t, "order", []int{2, 1, 0}, order)
	if !errors.Is(err, before) || !errors.Is(err, first) || !errors.Is(err, second) {
		t.Errorf("closing = %v, want all three errors", err)
	}
}
