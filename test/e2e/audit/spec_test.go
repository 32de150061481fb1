package audit

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func spec(t *testing.T, p Preset) v1beta1.LoadTestSpec {
	t.Helper()
	text, err := p.Spec()
	must.Succeed(t, err)
	var s v1beta1.LoadTestSpec
	if err := yaml.UnmarshalStrict([]byte(text), &s); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return s
}

func TestShortenerSpec(t *testing.T) {
	for api, want := range map[string][]string{
		"canonical": {"/urls", ".code"},
		"seed-001":  {"/urls", ".code"},
		"seed-002":  {"/api/urls", ".short_code"},
	} {
		s := spec(t, Preset{Service: Shortener, Host: "links", Port: 81, API: api})
		got := []string{s.Requests[0].HTTP.Path, string(s.Setup.Fill.Capture["code"])}
		same.As(t, api+": path and capture", want, got)
		if s.Setup.Fill.Count != Filled || s.Target.Service.Name != "links" || s.Target.Service.Port.IntValue() != 81 {
			t.Errorf("%s: filled %d at %+v", api, s.Setup.Fill.Count, s.Target.Service)
		}
	}
}

// The links stand still before the load: whatever the client of the fill gave up is
// stored by then, or given up by the service.
func TestFillIsOverWhenLinksAreCounted(t *testing.T) {
	s := spec(t, Preset{Service: Shortener, Host: "x", Port: 1})
	late := servicesWait(t, "shortener/postgres/options.go", "queryTimeout") - s.Target.Timeout.Duration
	if stable := plan.Audits(&s)[0].StableFor.Duration; stable <= late {
		t.Errorf("the links stand still for %s; a creation that was given up may be stored for %s", stable, late)
	}
}

// What is stored is audited, and clicks where there are any.
func TestSpecsAuditWhatIsStored(t *testing.T) {
	for preset, want := range map[Preset]string{
		{Service: Shortener}:                  "links",
		{Service: Shortener, Clicks: "none"}:  "links",
		{Service: Shortener, Clicks: "redis"}: "links clicks",
		{Service: EventStore}:                 "events",
	} {
		preset.Host, preset.Port = "x", 1
		var got []string
		s := spec(t, preset)
		for _, a := range s.StoredAudits() {
			got = append(got, a.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%+v: audits %v, want %s", preset, got, want)
		}
	}
}

// Each type of request that the audits count is sent.
func TestSpecsSendEveryRequestType(t *testing.T) {
	for service, want := range map[Service][]string{
		Shortener: {Create, Follow}, EventStore: {Append, Batch, ""}, RateLimiter: {Hit, Hit},
	} {
		var got []string
		for _, r := range spec(t, Preset{Service: service, Host: "x", Port: 1, Capacity: 5, RefillPerSecond: 0.5}).Requests {
			got = append(got, r.Type)
		}
		same.As(t, string(service)+": types", want, got)
	}
}

func TestEventStoreSpec(t *testing.T) {
	batch := spec(t, Preset{Service: EventStore, Host: "x", Port: 1}).Requests[1]
	var events []struct{ Data struct{ ID string } }
	must.Succeed(t, yaml.Unmarshal([]byte(batch.HTTP.Body), &events))
	if len(events) != PerBatch || int(batch.Items) != PerBatch || events[0].Data.ID != "${uuid}" {
		t.Errorf("a batch of %d items has %d events: %s", batch.Items, len(events), batch.HTTP.Body)
	}
}

func TestRateLimiterSpec(t *testing.T) {
	s := spec(t, Preset{Service: RateLimiter, Host: "x", Port: 1, Capacity: 7, RefillPerSecond: 2.5})
	want := &v1beta1.RateLimit{Capacity: 7, RefillPerSecond: v1beta1.NewDecimal("2.5"), ClientHeader: "X-Forwarded-For"}
	same.As(t, "contract", want, s.RateLimit())
}

// The wait of a store for what is under way is never the shorter one: what it gives
// up, and cannot say whether it was done, the client has given up before, and the
// status says timeout.
func TestSpecTimeoutsAreBelowStoreTimeouts(t *testing.T) {
	for service, waits := range map[Service][]time.Duration{
		Shortener: {servicesWait(t, "shortener/postgres/options.go", "queryTimeout")},
		EventStore: {
			servicesWait(t, "eventstore/part.go", "PointTimeout"),
			servicesWait(t, "eventstore/part.go", "BulkTimeout"),
		},
	} {
		s := spec(t, Preset{Service: service, Host: "x", Port: 1})
		if got, limit := s.Target.Timeout, slices.Min(waits)-time.Second; got == nil || got.Duration > limit {
			t.Errorf("%s: timeout is %v, want at least 1s below the service's %s", service, got, slices.Min(waits))
		}
	}
}

// A limiter that gives up on Redis answers 503, which is counted apart: its client
// waits for that.
func TestRateLimiterSpecWaitsForDecision(t *testing.T) {
	wait := servicesWait(t, "ratelimiter/service.go", "decideTimeout")
	s := spec(t, Preset{Service: RateLimiter, Host: "x", Port: 1, Capacity: 5, RefillPerSecond: 0.5})
	if got := s.Target.Timeout; got == nil || got.Duration < wait+time.Second {
		t.Errorf("timeout is %v, want at least 1s above the service's %s", got, wait)
	}
}

// A run in which a pod dies lasts until after another has taken its place.
func TestDisturbedRunIsLonger(t *testing.T) {
	for disturbed, want := range map[bool]time.Duration{false: 8 * time.Second, true: 15 * time.Second} {
		s := spec(t, Preset{Service: Shortener, Host: "x", Port: 1, Disturbed: disturbed})
		steady := s.Steps[slices.IndexFunc(s.Steps, func(step v1beta1.Step) bool { return step.Name == "steady" })]
		if got := steady.Duration.Duration; got != want {
			t.Errorf("disturbed %v: the steady step lasts %s, want %s", disturbed, got, want)
		}
	}
}
