package attack

import (
	"net/http"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// The contract is the target's: what is sent to another target is in no ledger.
func TestRequestsToOtherTargetsAreInNoLedger(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		o := d.oracle(t, nil)
		one := []source.Header{{Name: "X-Client", Value: "one"}}
		r := d.runner(t, setup{url: o.URL, client: "X-Client", requests: []source.Request{
			{Name: "limited", Weight: 1, Method: "GET", Path: "/limited", Headers: one},
			{Name: "other", Weight: 3, Method: "GET", Path: "/other", Headers: one, Target: 1},
		}})
		got := drive(t, r, arrivalsStep(10e6, 2*time.Second))
		if sum := got.Clients.Ledger("one").Requests(); sum != int64(o.counts()["/limited"]) {
			t.Errorf("the ledger has %d requests, of which %d were sent to the target", sum, o.counts()["/limited"])
		}
	})
}

// What another target answers, to which a redirect led, says nothing of what the limiter decided.
func TestAnswersOfOtherTargetsAreUnknownInTheLedger(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		o := d.oracle(t, func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/leaves":
				http.Redirect(w, r, "http://other.example/denied", http.StatusFound)
			case "/stays":
				http.Redirect(w, r, "/denied", http.StatusFound)
			default:
				w.WriteHeader(http.StatusTooManyRequests)
			}
		})
		requests := []source.Request{get("/leaves"), get("/stays")}
		for i := range requests {
			requests[i].Headers, requests[i].Follow = []source.Header{{Name: "X-Client", Value: requests[i].Path}}, 1
		}
		r := d.runner(t, setup{url: o.URL, client: "X-Client", origins: []source.Origin{{URL: o.URL}, {URL: "http://other.example"}}, requests: requests})
		got := drive(t, r, arrivalsStep(10e6, 2*time.Second))
		if denied := got.Requests[0].Outcomes[measure.RateLimited] + got.Requests[1].Outcomes[measure.RateLimited]; denied != 20 {
			t.Fatalf("%d of 20 were denied", denied)
		}
		for path, want := range map[string]int64{"/leaves": 0, "/stays": 10} {
			denied, requests := int64(0), int64(0)
			for _, s := range got.Clients.Ledger(path).Slices {
				denied, requests = denied+s.Denied, requests+s.Granted+s.Denied+s.Unknown
			}
			if denied != want || requests != 10 {
				t.Errorf("%s: %d of %d requests are denied, want %d of 10", path, denied, requests, want)
			}
		}
	})
}
