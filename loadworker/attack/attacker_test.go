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
		sendAll(t, r, 200e6, 10)
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
		got := sendAll(t, d.runner(t, setup{url: o.URL}), hits*20e6, hits)
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

// Responses that the target holds back are measured as that long, and no others are.
func TestVegetaMeasuresTheSameTimes(t *testing.T) {
	const hits, held = 50, 10
	arrivalsInVirtualTime(t, func(t *testing.T, d testDriver) {
		o := d.oracle(t, func(_ http.ResponseWriter, r *http.Request) {
			<-time.After(latency)
			if seq, _ := strconv.Atoi(r.URL.Path[1:]); seq%(hits/held) == 0 {
				<-time.After(300*ms - latency)
			}
		})
		q := total(t, drive(t, d.runner(t, setup{url: o.URL}), arrivalsStep(100e6, 500*ms)))
		for name, times := range map[string]*measure.Histogram{"response": q.Response, "service": q.Service} {
			most, _ := times.Quantile(float64(hits-held) / hits)
			least, _ := times.Quantile(float64(hits-held+1) / hits)
			if got := fmt.Sprint(latencies(times), ", ", most.Round(ms), ", ", least.Round(ms)); got != "5ms to 300ms, 5ms, 300ms" || times.Count() != hits {
				t.Errorf("%s times: %s", name, got)
			}
		}
	})
}
