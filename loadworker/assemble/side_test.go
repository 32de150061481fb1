package assemble

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// comparing is an assignment whose odd steps are sent to a control.
func comparing(url, control string, steps ...*workerv1.Step) *workerv1.Assignment {
	return withControl(workertest.Assignment(url, steps...), control)
}

func withControl(a *workerv1.Assignment, control string) *workerv1.Assignment {
	a.Control = &workerv1.Control{
		Target:   &workerv1.Target{Url: control, TimeoutNanos: int64(10 * time.Second), AllowSpecialAddresses: true},
		Requests: a.GetRequests(), Preflight: a.GetPreflight(),
	}
	for _, s := range a.GetSteps() {
		s.ToControl = s.GetIndex()%2 == 1
	}
	return a
}

// runStep runs a step to its end.
func runStep(t *testing.T, x *Assembly, index int32) *measure.Measurement {
	t.Helper()
	step, err := x.Step(index)
	must.Succeed(t, err)
	r := x.Runner(step).Start(step, time.Now().Add(20*time.Millisecond))
	<-r.Done()
	m, err := r.Snapshot()
	must.Succeed(t, err)
	return m
}

func TestStepsAreSentToTheirSide(t *testing.T) {
	candidate, control := workertest.NewTarget(t, nil), workertest.NewTarget(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	x := prepared(t, comparing(candidate.URL, control.URL, workertest.Burst(0, 3, 2), workertest.Burst(1, 4, 2), workertest.Burst(2, 3, 2)), testConfig(), ignore)
	if n := x.Targets(); n != 2 {
		t.Errorf("%d targets, want 2", n)
	}
	for index, want := range []struct{ sent, expected, opened, candidate, control int64 }{
		{6, 6, 3, 6, 0}, {8, 0, 4, 6, 8}, {6, 6, 0, 12, 8},
	} {
		m := runStep(t, x, int32(index))
		if r := m.Requests[0]; r.Sent != want.sent || r.Expected != want.expected || m.ConnectionsOpened != want.opened {
			t.Errorf("step %d sent %d, of which %d had an expected response, and opened %d connections; want %+v", index, r.Sent, r.Expected, m.ConnectionsOpened, want)
		}
		if a, b := candidate.Served(), control.Served(); a != want.candidate || b != want.control {
			t.Errorf("after step %d the candidate served %d and the control %d; want %d and %d", index, a, b, want.candidate, want.control)
		}
	}
}

// Each side is filled, and what was captured of one is not asked of the other.
func TestSidesAreFilledApart(t *testing.T) {
	candidate, control := newShop(t), newShop(t)
	for i := range 60 { // which the candidate gives to none
		control.codes[fmt.Sprintf("old-%d", i)] = 0
	}
	a := withControl(shopping(candidate.URL, 30, workertest.Burst(0, 3, 10), workertest.Burst(1, 3, 10)), control.URL)
	a.Requests[1].Weight = 0
	a.Control.Requests = []*workerv1.Request{a.Requests[0], {Name: "create", Method: "POST", Path: "/", Body: []byte("v3-${seq}")}}
	x := prepared(t, a, testConfig(), ignore)
	runStep(t, x, 0)
	runStep(t, x, 1)
	for name, shop := range map[string]*shop{"candidate": candidate, "control": control} {
		if _, wrong := shop.count(); wrong != 0 {
			t.Errorf("the %s was asked %d times for a code of the other", name, wrong)
		}
	}
	if created, _ := candidate.count(); created != 30 {
		t.Errorf("the candidate was filled with %d codes, want 30", created)
	}
	if created, _ := control.count(); created != 90 {
		t.Errorf("the control has %d codes, want 60 and 30", created)
	}
}

func TestBothSidesAreAsked(t *testing.T) {
	candidate, control := startLimiter(t, `{"strategy":"lua"}`), startLimiter(t, `{"strategy":"lua"}`)
	x := prepared(t, withControl(asking(t, candidate.URL(), workertest.Burst(0, 1, 1)), control.URL()), testConfig(), ignore)
	if n := x.PreflightAnswers(); n != 2 {
		t.Errorf("%d questions were answered, want one of each side", n)
	}
	if a, b := candidate.Counters().Routes["version"], control.Counters().Routes["version"]; a != 1 || b != 1 {
		t.Errorf("the candidate was asked %d times and the control %d times, want once each", a, b)
	}
}

// Whatever hinders the control hinders the run, and is said of it.
func TestRefusalsOfTheControl(t *testing.T) {
	candidate, hash := startLimiter(t, `{"strategy":"lua"}`), startLimiter(t, `{"strategy":"hash"}`)
	for name, tt := range map[string]struct {
		change       func(*workerv1.Assignment)
		reason, want string
	}{
		"another version": {
			func(*workerv1.Assignment) {}, workerv1.ReasonPreflightFailed,
			hash.URL() + `: preflight: GET /version: .strategy: a string of 4 bytes instead of "lua"`,
		},
		"an address that is not allowed": {
			func(a *workerv1.Assignment) { a.Control.Target.AllowSpecialAddresses = false }, workerv1.ReasonTargetUnreachable,
			"target " + hash.URL() + ": dial: dial tcp " + strings.TrimPrefix(hash.URL(), "http://") + ": address 127.0.0.1 is refused: a loopback address",
		},
		"a step of no control": {
			func(a *workerv1.Assignment) { a.Control = nil }, workerv1.ReasonInvalidSpec,
			"step 1 is sent to a control, but there is none",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := withControl(asking(t, candidate.URL(), workertest.Burst(0, 1, 1), workertest.Burst(1, 1, 1)), hash.URL())
			tt.change(a)
			if got := refusal(t, a, testConfig()); got.Reason != tt.reason || got.Error() != tt.want {
				t.Errorf("%s: %s; want %s: %s", got.Reason, got, tt.reason, tt.want)
			}
		})
	}
	if got := candidate.Counters().Routes["api"]; got != 0 {
		t.Errorf("the candidate got %d requests of steps", got)
	}
}

// The connections to one side are kept while the other has its step.
func TestBothSidesShareTheLimits(t *testing.T) {
	a := comparing("http://a", "https://b", workertest.Burst(0, 11, 1), workertest.Burst(1, 11, 1))
	if got, want := memoryNeed(a).each, connectionMemory(a.GetTarget(), 0)+connectionMemory(a.GetControl().GetTarget(), 0); got != want {
		t.Errorf("a user takes %d bytes, want %d", got, want)
	}
	_, err := New(t.Context(), a, Config{Limits: health.Limits{Descriptors: spareDescriptors + 20, Ports: 100}}, ignore)
	if want := "step 0 gives the worker 11 users, but it can hold 10 connections (74 file descriptors, 50 ports): set spec.parallelism to 2 or more"; err == nil || err.Error() != want {
		t.Errorf("refusal %v, want %s", err, want)
	}
}
