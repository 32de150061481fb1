package attack

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Both drivers send the same requests, byte by byte as far as a server sees them, but for
// the number that vegeta adds.
func TestVegetaSendsTheSameRequests(t *testing.T) {
	request := source.Request{
		Name: "create", Weight: 1, Method: "POST", Path: "/a%2Fb|${seq}?q=%20|", Body: "body ${seq}",
		Headers: []source.Header{{Name: "X-Seq", Value: "${seq}"}, {Name: "Host", Value: "other.example"}, {Name: "X-Loadtest-Place", Value: "mine"}},
	}
	var mu sync.Mutex
	sent := map[string][]string{}
	var driver string
	o := newOracle(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if _, ok := r.Header["X-Vegeta-Seq"]; ok != (driver == vegetaTestDriver.name()) {
			t.Errorf("%s: the header has vegeta's number: %v", driver, ok)
		}
		delete(r.Header, "X-Vegeta-Seq")
		delete(r.Header, "X-Loadtest-Place") // the one header that vegeta cannot be given
		sent[driver] = append(sent[driver], fmt.Sprint(r.Method, r.RequestURI, r.Host, r.Header, r.ContentLength, string(body)))
	})
	forEachArrivalsDriver(t, func(t *testing.T, d testDriver) {
		mu.Lock()
		driver = d.name()
		mu.Unlock()
		r := d.runner(t, setup{url: o.URL, requests: []source.Request{request}})
		sendAll(t, r, 10e6, 10)
	})
	first := sent[goroutineTestDriver.name()]
	slices.Sort(first)
	for _, requests := range sent {
		slices.Sort(requests)
		if diff := cmp.Diff(first, requests); diff != "" || len(requests) != 10 {
			t.Errorf("%d requests (-goroutines +other):\n%s", len(requests), diff)
		}
	}
}

// answered is what the target does with a request, and the outcome that it must have.
func answered(seq int) string {
	return []string{"success", "serverError", "rateLimited", "reset", "reset"}[seq%5]
}

// Whatever becomes of requests, all drivers count what the target did with those that it
// was sent.
func TestVegetaCountsTheSameOutcomes(t *testing.T) {
	const hits = 60
	handle := func(w http.ResponseWriter, r *http.Request) {
		seq, _ := strconv.Atoi(r.URL.Path[1:])
		switch answered(seq) {
		case "serverError":
			w.WriteHeader(http.StatusInternalServerError)
		case "rateLimited":
			w.WriteHeader(http.StatusTooManyRequests)
		case "reset":
			if seq%2 == 0 {
				panic(http.ErrAbortHandler)
			}
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "short")
		}
	}
	forEachArrivalsDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, handle)
		got := sendAll(t, d.runner(t, setup{url: o.URL}), hits*1e6, hits)
		want := map[string]int64{}
		for _, path := range o.served() {
			seq, _ := strconv.Atoi(path[1:])
			if outcome := answered(seq); outcome == "reset" && seq%2 == 1 && d.http2() {
				want["badResponse"]++ // the stream ends as if the body were whole
			} else {
				want[outcome]++
			}
		}
		if diff := cmp.Diff(want, outcomes(total(t, got))); diff != "" || got.Due != hits || len(o.served()) != hits || len(want) < 4 {
			t.Errorf("due %d, unsent %d, served %d; outcomes (-want +got):\n%s", got.Due, got.Unsent, len(o.served()), diff)
		}
	})
}

// What is never answered is a timeout to all drivers. Beside it nothing is answered: on a busy
// machine, any response may come too late.
func TestVegetaCountsTheSameTimeouts(t *testing.T) {
	const hits = 10
	forEachArrivalsDriver(t, func(t *testing.T, d testDriver) {
		handle, _ := hold(t)
		got := sendAll(t, d.runner(t, setup{url: newOracle(t, handle).URL, timeout: 300 * time.Millisecond}), 100e6, hits)
		if diff := cmp.Diff(map[string]int64{"timeout": hits}, outcomes(total(t, got))); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
	})
}

// Responses that the target holds back are measured as that long, and no others are: those
// that have come when it answers the held ones took no longer than until then, however busy
// this machine is.
func TestVegetaMeasuresTheSameTimes(t *testing.T) {
	const hits, held, longer = 50, 10, 300 * time.Millisecond
	forEachArrivalsDriver(t, func(t *testing.T, d testDriver) {
		handle, release := hold(t)
		o := newOracle(t, func(w http.ResponseWriter, r *http.Request) {
			if seq, _ := strconv.Atoi(r.URL.Path[1:]); seq%(hits/held) == 0 {
				handle(w, r)
			}
		})
		start := time.Now()
		x := d.runner(t, setup{url: o.URL}).Start(StepShare{Share: all(hits), Total: hits, Load: Arrivals{Rate: 100e6, Duration: time.Hour}}, start)
		until(t, x, func(s *measure.Measurement) bool {
			return s.Requests[0].Sent == hits && s.Requests[0].Outcomes[measure.Success] == hits-held
		})
		others := time.Since(start)
		<-time.After(others + longer) // twice as long, and more
		release()
		until(t, x, func(s *measure.Measurement) bool { return s.Requests[0].Outcomes[measure.Success] == hits })
		last := time.Since(start)
		x.Cut()
		q := total(t, finish(t, x))
		for name, times := range map[string]*measure.Histogram{"response": q.Response, "service": q.Service} {
			most, _ := times.Quantile(float64(hits-held) / hits)
			least, ok := times.Quantile(float64(hits-held+1) / hits)
			if !ok || most > others || shorter(least, others+longer) || shorter(last, times.Max()) {
				t.Errorf("%s times: %v, then %v to %v; want at most %v, then %v to %v", name, most, least, times.Max(), others, others+longer, last)
			}
		}
	})
}

// A request that waits for a place until the window has closed is not sent, and the
// attack goes on to its end.
func TestVegetaSendsNothingAfterTheWindow(t *testing.T) {
	handle, release := hold(t)
	o := newOracle(t, handle)
	r := vegetaTestDriver.runner(t, setup{url: o.URL, maxConns: 1})
	x := r.Start(arrivalsStep(20e6, 3*time.Second), time.Now())
	until(t, x, func(s *measure.Measurement) bool { return s.Window == 3*time.Second && s.Requests[0].Sent == 1 })
	release()
	got := finish(t, x)
	if q := total(t, got); q.Sent != 1 || got.Due != 60 || got.Unsent != 59 || len(o.served()) != 1 {
		t.Errorf("due %d, sent %d, unsent %d, served %d; want 60, 1, 59, 1", got.Due, q.Sent, got.Unsent, len(o.served()))
	}
}
