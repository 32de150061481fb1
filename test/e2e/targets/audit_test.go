//go:build e2e

package targets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/audit"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// stored is what a rate limiter has granted and denied.
type stored struct {
	// served is the number of decisions of its replicas, and taken the tokens that its
	// store has granted.
	served cluster.Served
	taken  int64
}

// limiterState reads the counts of a rate limiter.
func (x *trial) limiterState(t *testing.T) (s stored) {
	t.Helper()
	if x.Preset.Service != audit.RateLimiter {
		return s
	}
	s.served = cluster.Ask(t, x.ns)
	if x.Preset.Disturbed {
		s.taken = x.taken(t)
	}
	return s
}

// audit holds the target to what it acknowledged.
func (x *trial) audit(t *testing.T, before stored) {
	t.Helper()
	x.phase = "the audit"
	types := audit.Types(x.lt.Status)
	switch x.Preset.Service {
	case audit.Shortener:
		x.enough(t, types, audit.Create, audit.Follow)
		x.audits(t)
		x.auditNoClicks(t)
	case audit.EventStore:
		x.enough(t, types, audit.Append, audit.Batch)
		x.audits(t)
		x.auditPositions(t)
	case audit.RateLimiter:
		x.auditGrants(t, before, types)
	}
}

// audits are those of the load test itself: each must have passed.
func (x *trial) audits(t *testing.T) {
	t.Helper()
	if want := len(x.lt.Spec.StoredAudits()); want == 0 || len(x.lt.Status.Audits) != want {
		t.Errorf("%d audits in the status of %d", len(x.lt.Status.Audits), want)
	}
	for _, a := range x.lt.Status.Audits {
		x.Findings = append(x.Findings, strings.TrimPrefix(strings.TrimSuffix(a.Message, "."), "Audit "))
		if a.State != v1beta1.AuditPassed {
			t.Errorf("%s: %s", a.State, a.Message)
		}
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

// auditNoClicks looks for clicks of a variant that counts none.
func (x *trial) auditNoClicks(t *testing.T) {
	t.Helper()
	var now struct {
		Clicks int64 `json:"clicks"`
	}
	if x.read(t, "/stats", &now); !x.Preset.CountsClicks() && now.Clicks != 0 {
		t.Errorf("%d clicks were counted by a variant that counts none", now.Clicks)
	}
}

// auditPositions reads what was stored in the run: positions must be dense, and no event
// there twice.
func (x *trial) auditPositions(t *testing.T) {
	t.Helper()
	if x.Preset.Disturbed && x.Failed == 0 {
		t.Error("the only pod was killed, and no request failed")
	}
	a := x.lt.Status.Audits[0]
	if a.Before == nil || a.After == nil {
		return // which x.audits has reported
	}
	first := *a.Before + 1
	text := x.get(t, "/events/stream", map[string]string{"from": itoa(first)})
	if _, err := audit.Events(bytes.NewReader(text), first, *a.After); err != nil {
		t.Error(err)
		return
	}
	x.Findings = append(x.Findings, "positions dense and unique")
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
func (x *trial) counted(t *testing.T, before cluster.Served) audit.Decisions {
	t.Helper()
	var now cluster.Served
	if !x.Preset.Disturbed {
		now = cluster.Ask(t, x.ns)
	} else {
		for _, pod := range x.pods(t, "app") {
			s, err := cluster.AskPod(t.Context(), x.ns, pod.Name)
			must.Succeed(t, err)
			now = now.Plus(s)
		}
	}
	return audit.Decisions{Granted: now.Granted - before.Granted, Denied: now.Denied - before.Denied, Failed: now.Failed - before.Failed}
}

// read asks a pod of the service, and decodes its JSON.
func (x *trial) read(t *testing.T, path string, into any) {
	t.Helper()
	if err := json.Unmarshal(x.get(t, path, nil), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
