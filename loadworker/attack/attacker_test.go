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
		drive(t, r, arrivalsStep(10e6, time.Second))
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
	if seq < 10 { // they time out long before the step ends
		return "timeout"
	}
	return []string{"success", "serverError", "rateLimited", "reset", "reset"}[seq%5]
}

// Whatever becomes of requests, all drivers count what the target did with those that it
// was sent.
func TestVegetaCountsTheSameOutcomes(t *testing.T) {
	const hits = 60
	handle := func(w http.ResponseWriter, r *http.Request) {
		seq, _ := strconv.Atoi(r.URL.Path[1:])
		switch answered(seq) {
		case "timeout":
			<-r.Context().Done()
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
		r := d.runner(t, setup{url: o.URL, timeout: time.Second})
		got := drive(t, r, arrivalsStep(hits*1e6, time.Second))
		want := map[string]int64{}
		for _, path := range o.served() {
			seq, _ := strconv.Atoi(path[1:])
			if outcome := answered(seq); outcome == "reset" && seq%2 == 1 && d.http2() {
				want["badResponse"]++ // the stream ends as if the body were whole
			} else {
				want[outcome]++
			}
		}
		if diff := cmp.Diff(want, outcomes(total(t, got))); diff != "" || got.Due != hits || len(want) < 5 {
			t.Errorf("due %d, unsent %d, served %d; outcomes (-want +got):\n%s", got.Due, got.Unsent, len(o.served()), diff)
		}
	})
}

// A response that the target holds back for a known time is measured as that long.
func TestVegetaMeasuresTheSameTimes(t *testing.T) {
	const held = 300 * time.Millisecond
	forEachArrivalsDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, func(_ http.ResponseWriter, r *http.Request) {
			if seq, _ := strconv.Atoi(r.URL.Path[1:]); seq%5 == 0 {
				<-time.After(held)
			}
		})
		got := drive(t, d.runner(t, setup{url: o.URL}), arrivalsStep(100e6, time.Second))
		q := total(t, got)
		for name, times := range map[string]*measure.Histogram{"response": q.Response, "service": q.Service} {
			half, _ := times.Quantile(0.5)
			most, ok := times.Quantile(0.9)
			if !ok || half > held/2 || most < held-held/1000 || most > 2*held {
				t.Errorf("%s times: half within %v, 90%% within %v; a fifth take %v", name, half, most, held)
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
	x := r.Start(arrivalsStep(20e6, 500*time.Millisecond), time.Now())
	until(t, x, func(s *measure.Measurement) bool { return s.Window == 500*time.Millisecond && s.Requests[0].Sent == 1 })
	release()
	got := finish(t, x)
	if q := total(t, got); q.Sent != 1 || got.Due != 10 || got.Unsent != 9 || len(o.served()) != 1 {
		t.Errorf("due %d, sent %d, unsent %d, served %d; want 10, 1, 9, 1", got.Due, q.Sent, got.Unsent, len(o.served()))
	}
}
