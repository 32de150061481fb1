package results_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const ms = time.Millisecond

// told is what one client was told in the slices of a step.
type told []measure.Slice

func granted(n int64, from, to time.Duration) measure.Slice {
	return measure.Slice{Granted: n, FirstSent: from, LastReceived: to}
}

func denied(n int64, from, to time.Duration) measure.Slice {
	return measure.Slice{Denied: n, FirstSent: from, LastReceived: to}
}

func both(grants, denials int64, from, to time.Duration) measure.Slice {
	return measure.Slice{Granted: grants, Denied: denials, FirstSent: from, LastReceived: to}
}

// contractSpec has one request and a contract.
func contractSpec(capacity int64, refill v1beta1.Decimal) *v1beta1.LoadTestSpec {
	return &v1beta1.LoadTestSpec{
		Requests: []v1beta1.Request{{Name: "home", HTTP: &v1beta1.HTTPRequest{}}},
		Audits:   []v1beta1.Audit{{Name: "contract", RateLimit: &v1beta1.RateLimit{Capacity: capacity, RefillPerSecond: refill, ClientHeader: "X-Client"}}},
	}
}

// measured is a merged step of what each client was told.
func measured(clients map[string]told) *measure.Measurement {
	s := measure.NewMeasurement(1)
	s.Clients = measure.NewClients(measure.MaxLedgerBytes)
	for name, list := range clients {
		ledger := &measure.Ledger{}
		for i, slice := range list {
			slice.Index = i
			ledger.Slices = append(ledger.Slices, slice)
			s.Requests[0].Outcomes[measure.Success] += slice.Granted
			s.Requests[0].Outcomes[measure.RateLimited] += slice.Denied
		}
		s.Clients.Add(name, ledger)
	}
	return s
}

// accepted is a LoadTest whose run was accepted.
func accepted(spec *v1beta1.LoadTestSpec) *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{Spec: *spec}
	lt.Status.Requests = plan.RequestNames(spec)
	return lt
}

func audit(t *testing.T, spec *v1beta1.LoadTestSpec, merged *measure.Measurement, silence time.Duration) *v1beta1.RateLimitStatus {
	t.Helper()
	result, err := results.StepResult(accepted(spec), loading("burst", v1beta1.StepLoad{RequestsPerUser: 1, Users: 1}), merged, silence)
	if err != nil {
		t.Fatalf("StepResult: %v", err)
	}
	return result.RateLimit
}

func TestAuditOfSeedScenarios(t *testing.T) {
	one := func(slices ...measure.Slice) map[string]told { return map[string]told{"a": slices} }
	for name, tc := range map[string]struct {
		clients             map[string]told
		silence, clockError time.Duration
		unseen              int64
		over, falsely       int64
	}{
		"hash: 150 of 200 are granted in one burst":  {one(both(150, 50, 0, 50*ms)), 5 * time.Second, ms, 0, 100, 0},
		"whole-second clock: 60 in 50 ms":            {one(both(60, 140, 0, 50*ms)), 5 * time.Second, ms, 0, 10, 0},
		"lua: 50 of 200":                             {one(both(50, 150, 0, 50*ms)), 5 * time.Second, ms, 0, 0, 0},
		"transaction: 28 of 30, with tokens left":    {one(both(28, 2, 0, 90*ms)), 5 * time.Second, ms, 0, 0, 2},
		"the refill of one second explains ten more": {one(both(60, 140, 0, time.Second)), 5 * time.Second, 0, 0, 0, 0},
		"but not eleven":                             {one(both(61, 140, 0, time.Second)), 5 * time.Second, 0, 0, 1, 0},
		"unless the clocks are that uncertain":       {one(both(61, 140, 0, time.Second)), 5 * time.Second, 50 * ms, 0, 0, 0},
		"each client has a bucket of its own": {map[string]told{"a": {granted(52, 0, 20*ms)}, "b": {granted(50, 0, 20*ms)}, "c": {granted(55, 0, 20*ms)}},
			time.Hour, 0, 0, 7, 0},
		"a burst is found within a long step": {one(granted(1, 0, 10*ms), granted(60, 20*time.Second, 20*time.Second+50*ms), granted(1, 40*time.Second, 40*time.Second+ms)),
			time.Hour, 0, 0, 10, 0},
		"a leak is found over many slices": {one(granted(40, 0, 100*ms), denied(3, 150*ms, 160*ms), granted(40, 1000*ms, 1100*ms), granted(40, 2000*ms, 2100*ms)),
			0, 0, 0, 49, 0},
		"the level at the start is not known":                    {one(denied(30, 0, 50*ms)), 0, 0, 0, 0, 0},
		"a silence refills some of it":                           {one(denied(30, 0, 50*ms)), 1 * time.Second, 0, 0, 0, 9},
		"with uncertain clocks the silence was shorter":          {one(denied(30, 0, 50*ms)), 1 * time.Second, 50 * ms, 0, 0, 8},
		"a limiter's clock may run a little fast":                {one(granted(10_060, 0, 1000*time.Second)), 1 * time.Second, 0, 0, 0, 0},
		"but by no more than 1/1000":                             {one(granted(10_061, 0, 1000*time.Second)), 1 * time.Second, 0, 0, 1, 0},
		"a silence refills no more than the capacity":            {one(denied(60, 0, 50*ms)), time.Hour, 0, 0, 0, 50},
		"without a silence, what refilled since the start":       {one(denied(30, 1*time.Second, 1*time.Second+50*ms)), 0, 50 * ms, 0, 0, 9},
		"a measurement that is not whole proves no false denial": {one(denied(30, 0, 50*ms)), -1, 0, 0, 0, 0},
		"but proves grants over the limit":                       {one(granted(60, 0, 50*ms)), -1, 0, 0, 10, 0},
		"the refill since the start counts":                      {one(both(50, 5, 0, 50*ms), denied(3, 2*time.Second, 2*time.Second+10*ms)), time.Hour, 0, 0, 0, 3},
		"a refilled bucket is not over-full":                     {one(granted(1, 0, ms), both(50, 1, time.Hour, time.Hour+ms)), time.Hour, 0, 0, 0, 0},
		"a grant that may come before the denial counts":         {one(both(20, 1, 0, 30*time.Second), granted(29, time.Second, 2*time.Second)), time.Hour, 0, 0, 0, 1},
		"so does one that is sent when the denial comes":         {one(both(20, 1, 0, 50*ms), granted(30, 50*ms, 60*ms)), time.Hour, 0, 0, 0, 0},
		"all tokens may be gone by then":                         {one(both(20, 1, 0, 900*ms), granted(39, 500*ms, 900*ms)), time.Hour, 0, 0, 0, 0},
		"an unknown request may have taken a token":              {one(measure.Slice{Granted: 47, Denied: 2, Unknown: 2, FirstSent: 0, LastReceived: 50 * ms}), time.Hour, 0, 0, 0, 1},
		"slices come in any order":                               {one(granted(30, time.Second, 1010*ms), granted(30, 0, 10*ms)), time.Hour, 0, 0, 0, 0},
		"a denial that took long lengthens no burst":             {one(granted(30, 0, 10*ms), denied(1, 15*ms, 10*time.Second), granted(31, 20*ms, 30*ms)), 0, 0, 0, 11, 0},
		"a single grant is one too many":                         {one(granted(1, 0, ms), granted(50, 2*ms, 3*ms)), 0, 0, 0, 1, 0},
		"so is a single one after others":                        {one(granted(50, 0, ms), granted(1, 2*ms, 3*ms)), 0, 0, 0, 1, 0},
		"later grants took no token before":                      {one(denied(5, 0, 50*ms), granted(50, time.Second, 1010*ms)), time.Hour, 0, 0, 0, 5},
		"nor did later unknown ones":                             {one(denied(5, 0, 50*ms), measure.Slice{Unknown: 50, FirstSent: time.Second, LastReceived: 1010 * ms}), time.Hour, 0, 0, 0, 5},
		"so may one that was not seen":                           {one(both(47, 2, 0, 50*ms)), time.Hour, 0, 2, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			merged := measured(tc.clients)
			merged.ClockError, merged.Clients.Unseen = tc.clockError, tc.unseen
			got := audit(t, contractSpec(50, v1beta1.NewDecimal("10")), merged, tc.silence)
			if got.OverLimitGrants != tc.over {
				t.Errorf("%d grants over the limit, want %d", got.OverLimitGrants, tc.over)
			}
			if got.FalseDenials != tc.falsely {
				t.Errorf("%d false denials, want %d", got.FalseDenials, tc.falsely)
			}
		})
	}
}

func TestAuditCounts(t *testing.T) {
	merged := measured(map[string]told{"a": {both(3, 1, 0, ms)}, "b": {both(2, 0, 0, ms), both(1, 4, time.Hour, time.Hour)}})
	merged.Clients.Untracked, merged.Clients.Unseen = 4, 3
	want := &v1beta1.RateLimitStatus{Clients: 2, Granted: 6, Denied: 5, Untracked: 7}
	got := audit(t, contractSpec(50, v1beta1.NewDecimal("10")), merged, -1)
	same.As(t, "audit", want, got)
}

// Requests to other targets are neither granted nor denied by the limiter, and it grants
// none by an answer of 503, although that is expected.
func TestAuditCountsRequestsToItsTarget(t *testing.T) {
	merged := measure.NewMeasurement(2)
	merged.Clients = measure.NewClients(measure.MaxLedgerBytes)
	for i := range merged.Requests {
		merged.Requests[i].Outcomes[measure.Success], merged.Requests[i].Outcomes[measure.RateLimited] = 5, 1
		merged.Requests[i].StatusCodes = measure.StatusCodes{200: 3, 429: 1, 503: 2}
	}
	spec := contractSpec(50, v1beta1.NewDecimal("10"))
	spec.Requests = append(spec.Requests, v1beta1.Request{Name: "other", Target: "other", HTTP: &v1beta1.HTTPRequest{}})
	same.As(t, "audit", &v1beta1.RateLimitStatus{Granted: 3, Denied: 1}, audit(t, spec, merged, -1))
}

// A redirect takes a token, and what is sent next another one.
func TestRedirectsTakeTokens(t *testing.T) {
	m := measured(map[string]told{"a": {both(25, 35, 0, 100*ms)}})
	m.Requests[0].Redirects = 25
	if got := audit(t, contractSpec(50, v1beta1.NewDecimal("10")), m, time.Minute); got.FalseDenials != 0 {
		t.Errorf("25 chains of two requests have emptied the bucket of 50, but %d denials are false", got.FalseDenials)
	}
}

// The largest numbers that the API takes must not overflow. After overflow, stretched by
// 1/1000 for the clocks, the refill in millionths first takes more than 64 bits.
func TestAuditOfTheLargestContract(t *testing.T) {
	const overflow = 18_428_315_757_956 * time.Nanosecond
	for _, length := range []time.Duration{24 * time.Hour, overflow} {
		merged := measured(map[string]told{"a": {both(1_000_000_000_000, 5, 0, length)}})
		got := audit(t, contractSpec(1_000_000_000, v1beta1.NewDecimal("999999999.999999")), merged, 24*time.Hour)
		want := &v1beta1.RateLimitStatus{Clients: 1, Granted: 1_000_000_000_000, Denied: 5}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("a step of %v: audit (-want +got):\n%s", length, diff)
		}
	}
}

// There is no audit without a contract, nor of a running step: the ledgers come with the last snapshots.
func TestWhatIsNotAudited(t *testing.T) {
	without, running := contractSpec(50, v1beta1.NewDecimal("10")), measured(map[string]told{"a": {granted(60, 0, ms)}})
	without.Audits, running.Clients = nil, nil
	for name, got := range map[string]*v1beta1.RateLimitStatus{
		"without a contract": audit(t, without, measured(map[string]told{"a": {granted(60, 0, ms)}}), 0),
		"a running step":     audit(t, contractSpec(50, v1beta1.NewDecimal("10")), running, 0),
	} {
		if got != nil {
			t.Errorf("%s: audited: %+v", name, got)
		}
	}
}

func TestMalformedRefillIsAnError(t *testing.T) {
	_, err := results.StepResult(accepted(contractSpec(1, v1beta1.NewDecimal("ten"))), closed, measured(nil), 0)
	if want := `step 1000: spec.audits: rateLimit.refillPerSecond: "ten" is not a decimal number such as 0.5`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// The most that the audit of a step costs: as many clients as there is room for, each
// with every slice in use and responses that take half the step.
func BenchmarkAudit(b *testing.B) {
	clients := map[string]told{}
	for i := range 3000 {
		var list told
		for slice := range measure.MaxSlices {
			from := time.Duration(slice) * time.Second
			list = append(list, both(10, 1, from, from+30*time.Second))
		}
		clients[strconv.Itoa(i)] = list
	}
	merged, lt := measured(clients), accepted(contractSpec(50, v1beta1.NewDecimal("10")))
	for b.Loop() {
		if _, err := results.StepResult(lt, closed, merged, time.Second); err != nil {
			b.Fatal(err)
		}
	}
}
