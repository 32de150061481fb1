package comparison_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/comparison"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// measured is a step with the times of step and so many samples.
func measured(millis float64, samples int64) v1beta1.StepStatus {
	s := step("100", 1, 0, 100, millis)
	l := s.Result.ResponseTime
	l.Samples, s.Result.Sent, s.Result.Expected, s.Result.Outcomes.Success = samples, samples, samples, samples
	s.Result.Failed = 0
	at := func(d *metav1.Duration, factor float64) *metav1.Duration {
		return &metav1.Duration{Duration: time.Duration(float64(d.Duration) * factor)}
	}
	l.Min, l.P75, l.P90, l.P999, l.P9999 = at(l.P50, 0.5), at(l.P50, 1.4), at(l.P50, 1.8), at(l.P99, 1.2), at(l.P99, 1.4)
	return s
}

// marks are what the differences are marked with, by metric.
func marks(t *testing.T, before, after *v1beta1.LoadTest) map[string]comparison.Mark {
	t.Helper()
	all := map[string]comparison.Mark{}
	for _, d := range compare(t, before, after).Differences {
		if d.Mark != comparison.Unmarked {
			all[d.Request+d.Metric] = d.Mark
		}
	}
	return all
}

func TestWhatIsMarked(t *testing.T) {
	const many = 20_000
	slow := func(edit func(*v1beta1.StepResult)) v1beta1.StepStatus {
		s := measured(400, many)
		edit(s.Result)
		return s
	}
	fast := measured(40, many)
	for name, tc := range map[string]struct {
		before, after v1beta1.StepStatus
		want          string
	}{
		"the same":          {fast, fast, "map[]"},
		"somewhat slower":   {fast, measured(60, many), "map[]"},
		"ten times as slow": {fast, measured(400, many), "map[p50:worse p95:worse p99:worse]"},
		"ten times as fast": {measured(400, many), fast, "map[p50:better p95:better p99:better]"},
		"too few for p99":   {measured(40, 500), measured(400, 500), "map[p50:worse p95:worse]"},
		"too few for any":   {measured(40, 20), measured(400, 20), "map[]"},
		"requests piled up": {fast, slow(func(r *v1beta1.StepResult) {
			r.Outstanding = &v1beta1.OutstandingResult{Trend: v1beta1.OutstandingGrowing}
		}), "map[]"},
		"they may have": {slow(func(r *v1beta1.StepResult) {
			r.Outstanding = &v1beta1.OutstandingResult{Trend: v1beta1.OutstandingUncertain}
		}), fast, "map[]"},
		"half failed":        {fast, slow(func(r *v1beta1.StepResult) { r.Failed, r.ResponseTime = many/2, fast.Result.ResponseTime }), "map[failureRate:worse]"},
		"half were not sent": {fast, slow(func(r *v1beta1.StepResult) { r.Due, r.Unsent, r.ResponseTime = many, many/2, fast.Result.ResponseTime }), "map[unsentRate:worse]"},
		"no success": {fast, slow(func(r *v1beta1.StepResult) {
			r.Goodput, r.ResponseTime, r.Outcomes.Success = "0", fast.Result.ResponseTime, 0
		}), "map[goodput:worse]"},
		"twice the goodput": {fast, slow(func(r *v1beta1.StepResult) { r.Goodput, r.ResponseTime = "1996.0", fast.Result.ResponseTime }), "map[goodput:better]"},
		"the generator":     {fast, slow(func(r *v1beta1.StepResult) { r.WithoutGenerator = fast.Result.ResponseTime }), "map[]"},
		"failures of its own": {fast, slow(func(r *v1beta1.StepResult) {
			r.Failed, r.Excused, r.ResponseTime = many/2, many/2, fast.Result.ResponseTime
		}), "map[]"},
	} {
		same.As(t, name, tc.want, fmt.Sprint(marks(t, finished("v3", tc.before), finished("v4", tc.after))))
	}
}

// Figures of a file that nothing measured are written in each form all the same.
func TestFiguresThatCannotBe(t *testing.T) {
	for name, edit := range map[string]func(*v1beta1.StepResult){
		"a rate beyond all":     func(r *v1beta1.StepResult) { r.Goodput = "1e999" },
		"a rate below none":     func(r *v1beta1.StepResult) { r.Goodput = "-5" },
		"counts below none":     func(r *v1beta1.StepResult) { r.Sent, r.Due, r.Failed, r.Outcomes.Success = -1, -1, -5, -7 },
		"more failed than sent": func(r *v1beta1.StepResult) { r.Failed = 10 * r.Sent },
		"samples below none":    func(r *v1beta1.StepResult) { r.ResponseTime.Samples = -1 << 62 },
		"times below none":      func(r *v1beta1.StepResult) { r.ResponseTime.P50.Duration, r.ResponseTime.Min.Duration = -1, -1 },
		"times in no order":     func(r *v1beta1.StepResult) { r.ResponseTime.P50.Duration = 9e18 },
	} {
		for _, repetitions := range []int{1, 3} {
			var steps, others []v1beta1.StepStatus
			for range repetitions {
				s := measured(40, 20_000)
				edit(s.Result)
				steps, others = append(steps, s), append(others, measured(41, 20_000))
			}
			for _, pair := range [][2][]v1beta1.StepStatus{{steps, others}, {others, steps}, {steps, steps}} {
				for _, d := range compare(t, finished("v3", pair[0]...), finished("v4", pair[1]...)).Differences {
					if d.Chance != nil && (*d.Chance < 0 || *d.Chance > 1) {
						t.Errorf("%s: %+v", name, d)
					}
				}
			}
		}
	}
}

// A difference that would be marked alone is not, of many that are none.
func TestManyDifferencesAreMarkedMoreSeldom(t *testing.T) {
	mixed := func(name string, requests int, first float64) *v1beta1.LoadTest {
		s := measured(40, 20_000)
		lt := finished(name, s)
		for i := range requests {
			millis := 40.0
			if i == 0 {
				millis = first
			}
			request := fmt.Sprintf("r%d ", i)
			lt.Status.Requests = append(lt.Status.Requests, v1beta1.RequestStatus{Name: request})
			part := measured(millis, 20_000).Result
			s.Result.Requests = append(s.Result.Requests, v1beta1.RequestResult{Name: request, PartResult: v1beta1.PartResult{Counts: part.Counts, ResponseTime: part.ResponseTime}})
		}
		lt.Status.Requests = lt.Status.Requests[1:]
		return lt
	}
	for requests, want := range map[int]int{2: 3, 32: 0} {
		if got := marks(t, mixed("v3", requests, 40), mixed("v4", requests, 190)); len(got) != want {
			t.Errorf("of %d requests, %d differences are marked, want %d: %v", requests, len(got), want, got)
		}
	}
}

// Names and texts of strangers stay texts in each form, and a request may have any name.
func TestHostileNamesInEveryForm(t *testing.T) {
	const hostile = "a|b\n</script><script>alert(1)</script>\x1b[2J\"'"
	s := measured(40, 1000)
	s.Name, s.Result.Goodput = hostile, hostile
	part := s.Result.Requests
	for range 2 {
		part = append(part, v1beta1.RequestResult{Name: hostile, PartResult: v1beta1.PartResult{Counts: s.Result.Counts, ResponseTime: s.Result.ResponseTime}})
	}
	s.Result.Requests = part
	lt := finished(hostile, s)
	lt.Status.Requests = []v1beta1.RequestStatus{{Name: hostile}, {Name: hostile}}
	c := comparing(t, lt, lt)
	text, page := c.Text(), ""
	data, err := c.HTML()
	must.Succeed(t, err)
	page = string(data)
	if strings.Contains(text, "\x1b") || strings.Contains(page, "<script>alert") || strings.Count(page, "<script") != 1 {
		t.Errorf("a text is more than that:\n%s\n%s", text, page)
	}
	if all := compare(t, lt, lt); len(all.Differences) == 0 || all.Differences[0].Step != hostile || all.Differences[0].Mark != comparison.Unmarked {
		t.Errorf("%+v", all.Differences)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(c.Markdown()), "\n") {
		if strings.Contains(line, "a|b") {
			t.Errorf("a name ends a cell of Markdown: %q", line)
		}
	}
}

// As many steps and requests as a run may have are compared.
func TestLargestComparison(t *testing.T) {
	var steps []v1beta1.StepStatus
	for i := range 128 {
		s := measured(40, 20_000)
		s.Name, s.Rung = fmt.Sprint(i), int32(i+1)
		for j := range 32 {
			s.Result.Requests = append(s.Result.Requests, v1beta1.RequestResult{Name: fmt.Sprint(j), PartResult: v1beta1.PartResult{Counts: s.Result.Counts, ResponseTime: s.Result.ResponseTime}})
		}
		steps = append(steps, s)
	}
	lt := finished("v3", steps...)
	for j := range 32 {
		lt.Status.Requests = append(lt.Status.Requests, v1beta1.RequestStatus{Name: fmt.Sprint(j)})
	}
	if n := len(compare(t, lt, lt).Differences); n != 128*(6+32*4) {
		t.Errorf("%d differences", n)
	}
}
