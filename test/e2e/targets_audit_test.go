//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/audit"
)

// settleLimit bounds the wait until the stored count is stable. The longest wait is
// for a broker, which reassigns the partitions of a killed consumer after its
// session timeout of up to 45 s.
const settleLimit = 2 * time.Minute

// stored is a target's own count of what it has stored or served.
type stored struct {
	// Links and Clicks are the shortener's.
	Links  int64 `json:"links"`
	Clicks int64 `json:"clicks"`
	// Position is the event store's last.
	Position int64 `json:"position"`
	// served is the number of decisions of the rate limiter's replicas, and taken
	// the tokens that its store has granted.
	served served
	taken  int64
}

// state reads the target's counts.
func (x *trial) state(t *testing.T) (s stored) {
	t.Helper()
	switch x.Preset.Service {
	case audit.Shortener:
		x.read(t, "/stats", &s)
	case audit.EventStore:
		x.read(t, "/position", &s)
	case audit.RateLimiter:
		s.served = ask(t, x.ns)
		if x.Preset.Disturbed {
			s.taken = x.taken(t)
		}
	}
	return s
}

// audit compares the data stored since with the acknowledged requests.
func (x *trial) audit(t *testing.T, before stored) {
	t.Helper()
	x.phase = "the audit"
	types := audit.Types(x.lt.Status)
	switch x.Preset.Service {
	case audit.Shortener:
		x.auditLinks(t, before, types)
	case audit.EventStore:
		x.auditEvents(t, before, types)
	case audit.RateLimiter:
		x.auditGrants(t, before, types)
	}
}

// check adds one finding. A failed one is reported at once, and the audit goes on.
func (x *trial) check(t *testing.T, c audit.Count) {
	t.Helper()
	x.Findings = append(x.Findings, c.String())
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

// enough holds the types of request that are counted to what makes their count
// worth something.
func (x *trial) enough(t *testing.T, types map[string]audit.Tally, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := types[name].Enough(x.Preset.Disturbed); err != nil {
			t.Errorf("type %s: %v", name, err)
		}
	}
}

func (x *trial) auditLinks(t *testing.T, before stored, types map[string]audit.Tally) {
	t.Helper()
	x.enough(t, types, audit.Create, audit.Follow)
	now := x.state(t)
	x.check(t, audit.Count{
		Stored: "stored", Acknowledged: "acknowledged", Got: now.Links - x.loaded(t, before), Want: types[audit.Create], Killed: x.Preset.Disturbed,
	})
	if !x.Preset.CountsClicks() {
		if n := now.Clicks - before.Clicks; n != 0 {
			t.Errorf("%d clicks were counted by a variant that counts none", n)
		}
		return
	}
	clicks := audit.Count{Stored: "clicks", Acknowledged: "redirects", Want: types[audit.Follow], Killed: x.Preset.Disturbed}
	clicks.Got = x.settled(t, clicks.Want.Acknowledged, func() int64 { return x.state(t).Clicks - before.Clicks })
	x.check(t, clicks)
}

// loaded is how many links there were before the load: as counted or, if they did
// not rest before it, as if each creation of the fill had been answered at once.
func (x *trial) loaded(t *testing.T, before stored) int64 {
	t.Helper()
	if x.filled == 0 {
		t.Log("the load began before the number of filled links rested: none of them may be there twice")
		return before.Links + audit.Filled
	}
	again, err := audit.Again(before.Links, x.filled)
	if err != nil {
		t.Error(err)
	}
	if again > 0 {
		x.Findings = append(x.Findings, fmt.Sprintf("%d of the fill sent again", again))
	}
	return x.filled
}

// settled reads a number of clicks until it is stable at the wanted one. It returns
// the last number read.
func (x *trial) settled(t *testing.T, want int64, read func() int64) (n int64) {
	t.Helper()
	var rest audit.Rest
	err := wait.PollUntilContextTimeout(t.Context(), audit.Every, settleLimit, true, func(context.Context) (bool, error) {
		n = read()
		return rest.Read(n) >= audit.ClicksRest && n >= want, nil
	})
	if err != nil {
		t.Logf("after %s: %d of %d: %v", settleLimit, n, want, err)
	}
	return n
}

func (x *trial) auditEvents(t *testing.T, before stored, types map[string]audit.Tally) {
	t.Helper()
	x.enough(t, types, audit.Append, audit.Batch)
	text, last := x.events(t, before.Position+1)
	n, err := audit.Events(bytes.NewReader(text), before.Position+1, last)
	if err != nil {
		t.Error(err)
	}
	x.check(t, audit.Count{
		Stored: "stored", Acknowledged: "acknowledged", Got: n,
		Want: types[audit.Append].Plus(types[audit.Batch].Times(audit.PerBatch)), Killed: x.Preset.Disturbed,
	})
	if err == nil {
		x.Findings = append(x.Findings, "positions dense and unique")
	}
	if x.Preset.Disturbed && x.Failed == 0 {
		t.Error("the only pod was killed, and no request failed")
	}
}

// events reads the events from a position on, and the last position, both of a time
// at which nothing was stored: what a client no longer waits for may still be.
func (x *trial) events(t *testing.T, from int64) (text []byte, last int64) {
	t.Helper()
	last = x.state(t).Position
	err := wait.PollUntilContextTimeout(t.Context(), audit.Every, settleLimit, true, func(context.Context) (bool, error) {
		before := last
		text = x.get(t, "/events/stream", map[string]string{"from": itoa(from)})
		last = x.state(t).Position
		return last == before, nil
	})
	if err != nil {
		t.Fatalf("after %s events are still being stored, the last at position %d: %v", settleLimit, last, err)
	}
	return text, last
}

func (x *trial) auditGrants(t *testing.T, before stored, types map[string]audit.Tally) {
	t.Helper()
	x.enough(t, types, audit.Hit)
	hits := types[audit.Hit]
	limits := audit.Limited(x.Preset.Strategy, x.lt.Status)
	x.Findings = append(x.Findings, limits.String())
	if err := limits.Err(); err != nil {
		t.Error(err)
	}
	if limits.Breached() && x.Verdict == "Passed" {
		t.Error("the contract was breached, and the verdict is Passed")
	}
	counted := x.counted(t, before.served)
	if counted.Granted == 0 || counted.Denied == 0 {
		t.Errorf("the replicas counted %d granted and %d denied: there is nothing to compare", counted.Granted, counted.Denied)
	}
	for _, c := range limits.Counts(counted, hits, x.Preset.Disturbed) {
		if err := c.Err(); err != nil {
			t.Error(err)
		}
	}
	if !x.Preset.Disturbed {
		x.Findings = append(x.Findings, "as counted by the replicas")
		return
	}
	x.check(t, limits.Tokens(x.taken(t)-before.taken, hits))
	x.Findings = append(x.Findings, fmt.Sprintf("%d counted by the replicas that are left", counted.Granted+counted.Denied+counted.Failed))
}

// counted is the number of decisions of the replicas since. A killed pod lost its
// count, and its successor may not be ready yet: then only ready pods count.
func (x *trial) counted(t *testing.T, before served) audit.Decisions {
	t.Helper()
	var now served
	if !x.Preset.Disturbed {
		now = ask(t, x.ns)
	} else {
		for _, pod := range x.pods(t, "app") {
			s, err := askPod(t.Context(), x.ns, pod.Name)
			if err != nil {
				t.Fatal(err)
			}
			now = served{now.granted + s.granted, now.denied + s.denied, now.failed + s.failed}
		}
	}
	return audit.Decisions{Granted: now.granted - before.granted, Denied: now.denied - before.denied, Failed: now.failed - before.failed}
}

// read asks a pod of the service, and decodes its JSON.
func (x *trial) read(t *testing.T, path string, into any) {
	t.Helper()
	if err := json.Unmarshal(x.get(t, path, nil), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
