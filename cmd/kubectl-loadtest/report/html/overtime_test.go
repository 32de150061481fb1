package html_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func page(t *testing.T, lt *v1beta1.LoadTest, archived ...*archive.Step) string {
	t.Helper()
	data, err := html.Report(lt, archived)
	must.Succeed(t, err)
	return string(data)
}

// short is a step of 2.5 s, whose last point is half as wide.
func short(t *testing.T) (*v1beta1.LoadTest, *archive.Step) {
	lt := reporttest.Ladder(t, 100)
	lt.Status.Steps[0].Load.Duration = &metav1.Duration{Duration: 2500 * time.Millisecond}
	point := func(due, good, failed int64, p95 *int64) archive.Point {
		return archive.Point{Due: due, Sent: due, Completed: due, Expected: good, P95: p95, Outcomes: map[string]int64{"success": good, "serverError": failed}}
	}
	return lt, &archive.Step{Format: archive.Format, Name: lt.Status.Steps[0].Name, WorkersReporting: 4, Series: &archive.Series{
		Seconds: 1, Workers: 3,
		Points: []archive.Point{point(100, 100, 0, ptr.To[int64](20_000)), point(100, 60, 40, ptr.To[int64](90_000)), point(50, 50, 0, nil)},
	}}
}

func TestPointsAreShownPerSecond(t *testing.T) {
	t.Run("whole", func(t *testing.T) { pointsArePerSecond(t, 2500*time.Millisecond) })
	t.Run("cut", func(t *testing.T) { pointsArePerSecond(t, time.Minute) })
}

func pointsArePerSecond(t *testing.T, duration time.Duration) {
	lt, step := short(t)
	lt.Status.Steps[0].Load.Duration.Duration = duration
	lt.Status.Steps[0].Window = &metav1.Duration{Duration: 2500 * time.Millisecond}
	got := page(t, lt, step)
	row := regexp.MustCompile(`(?s)Point by point.*?<tbody>(.*?)</tbody>`).FindStringSubmatch(got)
	if row == nil {
		t.Fatal("there is no table of the points")
	}
	cells := strings.Join(regexp.MustCompile(`>([^<]+)</t[hd]>`).FindAllString(row[1], -1), " ")
	// Of the last point, half a second wide, 50 expected responses are 100 a second.
	for _, want := range []string{">3<", ">60/s<", ">100/s<", ">40/s<", ">20\u00a0ms<", ">90\u00a0ms<"} {
		if !strings.Contains(cells, want) {
			t.Errorf("no cell %s in %s", want, cells)
		}
	}
	if strings.Contains(cells, ">50/s<") {
		t.Errorf("the last point is shown as if it were as wide as the others: %s", cells)
	}
	if want := "In step 100 only 3 of 4 workers reported theirs."; !strings.Contains(got, want) {
		t.Errorf("the page does not say %q", want)
	}
}

// What was sent is drawn where it is not what was due, beyond what falls into the next point.
func TestSentIsDrawnWhereItIsNotWhatWasDue(t *testing.T) {
	for unsent, want := range map[int64]bool{0: false, 2: false, 3: true, 40: true} {
		lt, step := short(t)
		step.Series.Points[0].Sent -= unsent
		if got := strings.Contains(page(t, lt, step), `data-name="sent"`); got != want {
			t.Errorf("%d of 100 were not sent: a line of what was sent is drawn: %t", unsent, got)
		}
	}
}

func TestResultsOfAnotherStepAreNotDrawn(t *testing.T) {
	lt, step := short(t)
	plain := page(t, lt)
	for name, change := range map[string]func(*archive.Step){
		"another name":     func(s *archive.Step) { s.Name = "other" },
		"an index beyond":  func(s *archive.Step) { s.Index = 7 },
		"a negative index": func(s *archive.Step) { s.Index = -1 },
		"no series":        func(s *archive.Step) { s.Series = nil },
		"no points":        func(s *archive.Step) { s.Series = &archive.Series{Seconds: 1} },
	} {
		other := *step
		change(&other)
		if page(t, lt, &other) != plain {
			t.Errorf("%s: it is drawn", name)
		}
	}
	if page(t, lt, step) == plain {
		t.Error("the results of the step are not drawn")
	}
}

// What a person sees of a worker that stood still: a band beside the curve, what it is, and
// both values in the tables. A sound run has none of it, however many digits differ.
func TestBandIsThereWhereTheGeneratorsDelayIsVisible(t *testing.T) {
	const band = `<path class="band `
	faults := reporttest.Faults(t)
	stood := page(t, faults["stood-still"], reporttest.Archived(faults["stood-still"])...)
	for _, want := range []string{band, "own delay: from what a steady generator would have measured", "In parentheses: without the generator", ">1.1\u00a0s\n(6\u00a0ms)<", "6\u00a0ms without the generator&#39;s own delay, in step 100", "It includes the generator&#39;s own delay."} {
		if !strings.Contains(stood, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	if note := "<h2 id=\"thresholds\">Thresholds</h2>\n<p class=\"note\">In parentheses: without the generator"; !strings.Contains(stood, note) {
		t.Error("the table of thresholds does not say what is in parentheses")
	}
	if n := strings.Count(stood, "because it was stopped or its node is busy"); n != 1 {
		t.Errorf("the page says %d times what the generator did, want once", n)
	}
	omitted := reporttest.Archived(faults["stood-still"])
	omitted[0].Requests[0].WithoutGenerator, omitted[0].Omitted = nil, []string{"requests.service", "requests.withoutGenerator"}
	for name, archived := range map[string][]*archive.Step{"an archive": nil, "room for the times in it": omitted} {
		tail := regexp.MustCompile(`(?s)<h3>Response time by percentile</h3>.*?</figure>`).FindString(page(t, faults["stood-still"], archived...))
		if !strings.Contains(tail, band) {
			t.Errorf("without %s, there is no band by the quantiles of the status", name)
		}
	}
	// Over the load, p99 and p95 have one each, for a screen and a phone; p50 is the same.
	over := regexp.MustCompile(`(?s)<h3>Response time</h3>.*?</figure>`).FindString(page(t, late(t)))
	if n := strings.Count(over, band); n != 4 {
		t.Errorf("%d bands over the load, want 4", n)
	}
	sound := reporttest.Ladder(t, 100, 250)
	for i := range sound.Status.Steps {
		r := sound.Status.Steps[i].Result
		r.WithoutGenerator = r.ResponseTime.DeepCopy()
		r.WithoutGenerator.P99.Duration -= 900 * time.Microsecond
		r.WithoutGenerator.P50.Duration -= 100 * time.Microsecond
	}
	for name, lt := range map[string]*v1beta1.LoadTest{"sound": sound, "silent": faults["silent"], "growing": faults["growing"]} {
		got := page(t, lt, reporttest.Archived(lt)...)
		for _, no := range []string{band, "own delay: from", "It includes the generator's own delay", "n parentheses"} {
			if strings.Contains(got, no) {
				t.Errorf("%s: the page has %q", name, no)
			}
		}
	}
}

// The plot of what was outstanding has a line for each step that has it in its archive, and
// says where it grew.
func TestOutstandingOverTime(t *testing.T) {
	const title = "<h3>Outstanding requests over time</h3>"
	lt := reporttest.Faults(t)["growing"]
	archived := reporttest.Archived(lt)
	got := page(t, lt, archived...)
	figure := regexp.MustCompile(`(?s)` + title + `.*?</figure>`).FindString(got)
	if !strings.Contains(figure, "Their number grew in step 400/s, by 4/s: that load cannot be kept for long.") {
		t.Errorf("the figure does not say where it grew: %.300s", figure)
	}
	for class, want := range map[string]int{`"curve main"`: 2, `"curve bad"`: 2} { // for a screen and a phone
		if n := strings.Count(figure, class); n != want {
			t.Errorf("%d lines %s, want %d", n, class, want)
		}
	}
	for i := range archived {
		archived[i].Outstanding = nil
	}
	if strings.Contains(page(t, lt, archived...), title) {
		t.Error("it is drawn though no archive has it")
	}
}

// What is measured after a warm-up is drawn at its time, and not at that of the warm-up.
func TestWarmUpsTakeTheirTime(t *testing.T) {
	const second = time.Second
	for name, tt := range map[string]struct {
		warmUps     [2]time.Duration
		axis, title string
	}{
		"none":               {[2]time.Duration{}, "linear 0 50", "seconds since the first step began"},
		"of the first step":  {[2]time.Duration{15 * second, 0}, "linear 0 35", "seconds since the first warm-up ended"},
		"of the second step": {[2]time.Duration{0, 15 * second}, "linear 0 65", "seconds since the first step began"},
		"of both":            {[2]time.Duration{15 * second, 15 * second}, "linear 0 50", "seconds since the first warm-up ended"},
	} {
		lt := reporttest.Ladder(t, 100, 500)
		for i := range lt.Status.Steps {
			step := &lt.Status.Steps[i]
			step.StartTime = &metav1.MicroTime{Time: lt.Status.StartTime.Add(time.Duration(i) * 40 * second)}
			step.Load.WarmUp, step.Load.Duration = &metav1.Duration{Duration: tt.warmUps[i]}, &metav1.Duration{Duration: 10 * second}
		}
		_, over, _ := strings.Cut(page(t, lt, reporttest.Archived(lt)...), "<h3>Rate over time</h3>")
		over, _, _ = strings.Cut(over, "</svg>")
		if !strings.Contains(over, `data-x="`+tt.axis+`"`) || !strings.Contains(over, ">"+tt.title+"<") {
			t.Errorf("%s: the axis is not %s of %s: %.900s", name, tt.axis, tt.title, over)
		}
	}
}

// A page of the longest ladder with the longest steps stays small.
func TestManyPointsAreJoined(t *testing.T) {
	lt := reporttest.Ladder(t, many()...)
	for i := range lt.Status.Steps {
		lt.Status.Steps[i].Load.Duration = &metav1.Duration{Duration: 600 * time.Second}
		lt.Status.Steps[i].StartTime = &metav1.MicroTime{Time: lt.Status.StartTime.Add(time.Duration(i) * 610 * time.Second)}
	}
	archived := reporttest.Archived(lt)
	var points int
	for _, a := range archived {
		points += len(a.Series.Points)
	}
	got := page(t, lt, archived...)
	if added := len(got) - len(page(t, lt)); points != 64*600 || added > 300_000 {
		t.Errorf("%d points take %d bytes", points, added)
	}
	if want := "It shows the highest response time of its 48 parts."; !strings.Contains(got, want) {
		t.Errorf("the page does not say %q", want)
	}
}

// What the containers used is drawn on the time axis of the steps, beside their limits, each
// labelled once.
func TestUsageOverTime(t *testing.T) {
	lt, step := short(t)
	if got := page(t, lt, step); strings.Contains(got, "CPU of the target over time") {
		t.Error("without readings there is a figure of them")
	}
	step.Usage = []archive.Usage{
		{Container: "app<b>", CPULimitMillis: 500, Points: []archive.UsagePoint{{FromMillis: 0, ToMillis: 1000, CPUMillis: 250}, {FromMillis: 1000, ToMillis: 2000, CPUMillis: 500}}},
		{Container: "proxy", Points: []archive.UsagePoint{{ToMillis: 1000, CPUMillis: 30}}},
		{Container: "none"},
	}
	got := page(t, lt, step)
	for _, want := range []string{"CPU of the target over time", ">app&lt;b&gt;<", ">limit of app&lt;b&gt;<", ">proxy<"} {
		if n := strings.Count(got, want); n == 0 {
			t.Errorf("the page does not have %s", want)
		}
	}
	if strings.Contains(got, "app<b>") || strings.Contains(got, ">limit of proxy<") || strings.Contains(got, ">none<") {
		t.Error("the page has markup of a name, a limit that there is not, or a container without readings")
	}
	many := make([]archive.UsagePoint, archive.MaxUsagePoints)
	for i := range 4 {
		step.Usage = append(step.Usage[:i:i], archive.Usage{Container: "app", Points: many})
	}
	if size, few := len(page(t, lt, step)), len(got); size > few+100_000 {
		t.Errorf("960 points take %d bytes", size-few)
	}
}
