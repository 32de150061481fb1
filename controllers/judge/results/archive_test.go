package results

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// archived is a run of one request and one step of 20 minutes.
func archived(load v1beta1.StepLoad) *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{}
	lt.Name, lt.UID = "checkout", "uid-1"
	lt.Status.Requests = []v1beta1.RequestStatus{{Name: "GET /", Type: "Read"}}
	lt.Status.Steps = []v1beta1.StepStatus{{Name: "users-10", Load: load}}
	return lt
}

// stored is what an archive has of a report of a step.
func stored(t *testing.T, load v1beta1.StepLoad, report *exchange.Report) *archive.Step {
	t.Helper()
	raw, err := Archive(archived(load), 0, report, nil)
	must.Succeed(t, err)
	step, err := archive.Decode(raw)
	must.Succeed(t, err)
	return step
}

var aMinute = v1beta1.StepLoad{Duration: &metav1.Duration{Duration: time.Minute}}

// An archive has what was reported, with the points as wide as the plan has them.
func TestArchiveIsOfTheReport(t *testing.T) {
	length := &metav1.Duration{Duration: 20 * time.Minute}
	for name, load := range map[string]v1beta1.StepLoad{"users": {Duration: length}, "a burst": {MaxDuration: length}} {
		t.Run(name, func(t *testing.T) {
			report := &exchange.Report{Merged: measure.NewMeasurement(1), Reporting: 2}
			r := &report.Merged.Requests[0]
			report.Merged.Due, r.Sent, r.Outcomes[measure.Timeout] = 1, 1, 1
			r.Response.Record(time.Second)
			r.Traces = measure.Traces{{ID: measure.TraceID{0xab}, Outcome: measure.Timeout, Response: time.Second, Service: time.Second}}
			report.Series = oneTimeout(t, length.Duration)
			report.Merged.Timeline = &measure.Timeline{Outstanding: [measure.TimelineSlots]int64{0, 3}}
			step := stored(t, load, report)
			if step.Due != 1 || step.Sent != 1 || step.WorkersReporting != 2 || step.Name != "users-10" || step.Requests[0].Response == nil || step.Requests[0].Service != nil {
				t.Errorf("archived %+v", step)
			}
			if x := step.Requests[0].Traces; len(x) != 1 || x[0] != (archive.Trace{ID: "ab" + strings.Repeat("0", 30), Outcome: "timeout", ResponseMicros: 1e6, ServiceMicros: 1e6}) {
				t.Errorf("archived the traces %+v", x)
			}
			if s := step.Series; s == nil || s.Seconds != 2 || s.Workers != 1 || len(s.Points) != 2 || s.Points[1].Outcomes["timeout"] != 1 {
				t.Errorf("archived the series %+v", s)
			}
			if o := step.Outstanding; o == nil || o.SlotMicros != 6_000_000 || len(o.Requests) != 2 || o.Requests[1] != 3 {
				t.Errorf("archived what was outstanding: %+v", o)
			}
			r.Service.Record(time.Millisecond)
			report.Merged.Timeline = nil
			report.Series = wire.Series{}
			if step = stored(t, load, report); step.Series != nil || step.Outstanding != nil || step.Requests[0].Service == nil {
				t.Errorf("without a series, with a service time: %+v", step)
			}
		})
	}
}

// An archive has the events of each request whose responses come in parts.
func TestArchiveHasTheEventsOfStreams(t *testing.T) {
	report := &exchange.Report{Merged: measure.NewMeasurement(1), Reporting: 1}
	r := &report.Merged.Requests[0]
	report.Merged.Due, r.Due, r.Sent, r.Expected, r.Outcomes[measure.Success] = 1, 1, 1, 1, 1
	r.Response.Record(time.Second)
	if s := stored(t, aMinute, report).Requests[0].Streams; s != nil {
		t.Errorf("without a stream: %+v", s)
	}
	r.Streams = measure.NewStreams()
	r.Streams.Events, r.Streams.InWindow, r.Streams.Tokened, r.Streams.OutputTokens = 3, 2, 1, 16
	r.Streams.Record(measure.FirstEvent, 200*time.Millisecond, 100*time.Millisecond)
	r.Streams.Record(measure.BetweenEvents, 20*time.Millisecond, 20*time.Millisecond)
	s := stored(t, aMinute, report).Requests[0].Streams
	if s == nil || s.Events != 3 || s.InWindow != 2 || s.Tokened != 1 || s.OutputTokens != 16 || s.LongestGap != nil || s.MeanGap != nil {
		t.Fatalf("archived %+v", s)
	}
	for name, h := range map[string]struct {
		of   *archive.Histogram
		want time.Duration
	}{"first event": {s.FirstEvent, 200 * time.Millisecond}, "between events": {s.BetweenEvents, 20 * time.Millisecond}} {
		times, err := h.of.Decode()
		must.Succeed(t, err)
		if got := times.Max(); times.Count() != 1 || got.Truncate(time.Millisecond) != h.want {
			t.Errorf("%s: %d times, up to %v, want one of %v", name, times.Count(), got, h.want)
		}
	}
}

// The times of the expected responses are those of all less those of the others. They are
// left out if all are expected, or if it is not known which are.
func TestArchiveHasTheTimesOfExpectedResponses(t *testing.T) {
	archivedOf := func(change func(*measure.Request)) *archive.Step {
		t.Helper()
		report := &exchange.Report{Merged: measure.NewMeasurement(1), Reporting: 1}
		r := &report.Merged.Requests[0]
		r.Sent, r.Expected, r.Outcomes[measure.Success], r.Outcomes[measure.ServerError] = 3, 2, 2, 1
		for _, took := range []time.Duration{time.Millisecond, 2 * time.Millisecond, time.Second} {
			r.Response.Record(took)
			r.Service.Record(took)
		}
		r.Failed.Record(time.Second, time.Second, time.Second)
		if change != nil {
			change(r)
		}
		return stored(t, aMinute, report)
	}
	expected, err := archivedOf(nil).Expected.Decode()
	if err != nil || expected.Count() != 2 || expected.Max() >= time.Second {
		t.Errorf("archived %d expected times, the longest of %s (%v), want 2 of at most 2 ms", expected.Count(), expected.Max(), err)
	}
	for name, change := range map[string]func(*measure.Request){
		"all are expected": func(r *measure.Request) { r.Expected, r.Failed = 3, measure.FailedTimes{} },
		"not known which":  func(r *measure.Request) { r.Failed.Response = measure.NewHistogram() },
	} {
		if step := archivedOf(change); step.Expected != nil {
			t.Errorf("%s: archived %+v", name, step.Expected)
		}
	}
}

// Times without the generator's delay are archived where they differ from the measured ones.
func TestArchiveHasTheTimesWithoutTheGenerator(t *testing.T) {
	for ideal, want := range map[time.Duration]bool{time.Second: false, time.Millisecond: true} {
		report := &exchange.Report{Merged: measure.NewMeasurement(1), Reporting: 1}
		r := &report.Merged.Requests[0]
		r.Ideal = measure.NewHistogram()
		r.Response.Record(time.Second)
		r.Service.Record(time.Second)
		r.Ideal.Record(ideal)
		if got := stored(t, aMinute, report).Requests[0]; (got.WithoutGenerator != nil) != want || got.Service == nil {
			t.Errorf("%s of 1 s without the generator: archived %+v, want %v", ideal, got, want)
		}
	}
}

// oneTimeout is the series of a worker in whose third second a request timed out.
func oneTimeout(t *testing.T, window time.Duration) (sum wire.Series) {
	t.Helper()
	s := measure.NewSeries(window)
	p := &s.Points[1]
	p.Due, p.Sent, p.Outcomes[measure.Timeout], p.Times[0] = 1, 1, 1, 1
	m := &workerv1.StepMeasurement{Due: 1, Series: wire.EncodeSeries(s), Requests: []*workerv1.RequestMeasurement{{Sent: 1, Outcomes: p.Outcomes[:]}}}
	read, err := wire.ReadSeries(m, window)
	must.Succeed(t, err)
	sum.Add(read)
	return sum
}

// Names are those of a result: of one run, one step, one measurement.
func TestArchiveNames(t *testing.T) {
	name := func(edit func(*v1beta1.LoadTest), i int, due int64, reporting int32) string {
		lt := archived(v1beta1.StepLoad{})
		edit(lt)
		s, err := ArchiveName(lt, i, &v1beta1.StepResult{Due: due}, &exchange.Report{Reporting: reporting})
		must.Succeed(t, err)
		if invalid := validation.IsDNS1123Subdomain(s); len(invalid) > 0 {
			t.Errorf("%s is no name: %v", s, invalid)
		}
		return s
	}
	same := func(*v1beta1.LoadTest) {}
	first := name(same, 0, 1, 2)
	if !strings.HasPrefix(first, "checkout-0-") || first != name(same, 0, 1, 2) {
		t.Errorf("%s, and again %s", first, name(same, 0, 1, 2))
	}
	for what, other := range map[string]string{
		"another step": name(same, 1, 1, 2), "another result": name(same, 0, 2, 2), "fewer workers": name(same, 0, 1, 1),
		"another run":    name(func(lt *v1beta1.LoadTest) { lt.UID = "uid-2" }, 0, 1, 2),
		"a long name":    name(func(lt *v1beta1.LoadTest) { lt.Name = strings.Repeat("a", 253) }, 0, 1, 2),
		"dots in a name": name(func(lt *v1beta1.LoadTest) { lt.Name = strings.Repeat("a", 199) + ".b" }, 0, 1, 2),
	} {
		if other == first {
			t.Errorf("%s has the same name, %s", what, first)
		}
	}
	lt := archived(v1beta1.StepLoad{})
	once := StoredName(lt, 0, []byte("a"))
	if once != StoredName(lt, 0, []byte("a")) || !strings.HasPrefix(once, "checkout-0-") {
		t.Errorf("stored as %s, and again as %s", once, StoredName(lt, 0, []byte("a")))
	}
	if once == StoredName(lt, 0, []byte("b")) || once == StoredName(lt, 1, []byte("a")) {
		t.Errorf("another content or step is stored as %s, too", once)
	}
}
