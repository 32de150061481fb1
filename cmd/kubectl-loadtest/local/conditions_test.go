//go:build !race

package local

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// What conditions decide is the same in the manifest, on two workers, at the target and in the result.
func TestConditionsFromTheManifestToTheResult(t *testing.T) {
	const spec = `{target: {url: %q}, parallelism: 2,
  requests: [{name: token, http: {path: /token}}, {name: page, http: {path: /page}}, {name: state, http: {path: "/state?token=${token}"}},
    {name: lounge, http: {path: "/lounge?csrf=${csrf}"}}],
  journeys: [{name: buy, steps: [
    {request: token, capture: {token: .token, tier: .tier}},
    {request: page, captureFrom: [{name: csrf, select: "form input[name=csrf]", attribute: value}]},
    {repeat: {request: state, capture: {order: .order}, until: has(order.paid) && order.paid, atMost: 3, every: 20ms}},
    {if: tier == 'gold', request: lounge}]}],
  thresholds: [{metric: failureRate, journeys: [buy], max: 50%%}],
  steps: [{name: users, users: 4, duration: 2s}, {name: sessions, rate: 20, duration: 2s}]}`
	var mu sync.Mutex
	tokens, asked, hits, wrong := 0, map[int]int{}, map[string]int64{}, []string{}
	simulate(t, spec, func(w http.ResponseWriter, r *http.Request) {
		<-time.After(5 * time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		hits[strings.Trim(r.URL.Path, "/")]++
		switch r.URL.Path {
		case "/token": // each third is gold, and each fourth is never paid
			tokens++
			_, _ = fmt.Fprintf(w, `{"token": %d, "tier": %q}`, tokens, map[bool]string{true: "gold", false: "silver"}[tokens%3 == 0])
		case "/page":
			_, _ = fmt.Fprint(w, `<form><input type=hidden name=csrf value="a1"></form>`)
		case "/state":
			token := 0
			_, _ = fmt.Sscan(r.URL.Query().Get("token"), &token)
			if asked[token]++; asked[token] > 3 {
				wrong = append(wrong, fmt.Sprint("token ", token, " asks too often"))
			}
			if asked[token] == 2 && token%4 > 0 {
				_, _ = fmt.Fprint(w, `{"order": {"paid": true}}`)
				return
			}
			_, _ = fmt.Fprint(w, `{"order": {}}`)
		case "/lounge":
			if got := r.URL.Query().Get("csrf"); got != "a1" {
				wrong = append(wrong, "lounge with "+got)
			}
		}
	}, func(t *testing.T, s *simulation) {
		got := s.finished()
		if got.Status.Verdict != v1beta1.VerdictPassed {
			t.Errorf("verdict %s: %+v", got.Status.Verdict, got.Status.Conditions)
		}
		sent := map[string]int64{}
		var started, lounge, leftOut, ended int64
		for i := range got.Status.Steps {
			r := got.Status.Steps[i].Result
			for k, request := range got.Status.Requests {
				sent[request.Name] += r.Requests[k].Sent
			}
			j := &r.Journeys[0]
			if len(j.FailedIn) != 1 || len(j.LeftOut) != 1 {
				t.Fatalf("%+v, want one step in which journeys failed, and one that was left out", j)
			}
			f, o := j.FailedIn[0], j.LeftOut[0]
			if f.Step != 3 || f.Request != "state" || f.ByCondition != j.Failed || f.Because != "until never held in 3 tries" || o.Step != 4 || o.Request != "lounge" {
				t.Errorf("failed in %+v, left out %+v", f, o)
			}
			started, leftOut, ended = started+j.Started, leftOut+o.Times, ended+j.Completed+j.Failed
			lounge += r.Requests[3].Sent
		}
		if diff := cmp.Diff(hits, sent); diff != "" || len(wrong) > 0 || started != int64(tokens) {
			t.Errorf("the target had %v, and says %q; %d of %d journeys started, sent (-target +result):\n%s", hits, wrong, started, tokens, diff)
		}
		if lounge == 0 || leftOut < lounge || ended < 50 {
			t.Errorf("%d in the lounge, %d left it out, %d ended", lounge, leftOut, ended)
		}
	})
}
