package why_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/why"
)

type edit func(*v1beta1.StepStatus)

// step has a p95 of so many milliseconds.
func step(p95 int, edits ...edit) *v1beta1.StepStatus {
	s := &v1beta1.StepStatus{Name: "one", Result: &v1beta1.StepResult{ResponseTime: &v1beta1.Latency{P95: &metav1.Duration{Duration: time.Duration(p95) * time.Millisecond}}}}
	for _, e := range edits {
		e(s)
	}
	return s
}

// uses is the mean and the highest use of the processors of a container.
func uses(name, cpu, most, limit string) edit {
	return container(v1beta1.ContainerUsage{Name: name, Readings: 2, CPU: cpu, MostCPU: most, CPULimit: limit})
}

// app uses so much of 500m.
func app(cpu, most string) edit { return uses("app", cpu, most, "500m") }

func container(c v1beta1.ContainerUsage) edit {
	return func(s *v1beta1.StepStatus) {
		if s.Environment == nil {
			s.Environment = &v1beta1.StepEnvironment{Usage: &v1beta1.StepUsage{}}
		}
		s.Environment.Usage.Containers = append(s.Environment.Usage.Containers, c)
	}
}

func pods(n int32) edit {
	return func(s *v1beta1.StepStatus) { s.Environment.After = &v1beta1.EnvironmentReading{Pods: n} }
}

func query(name, value, limit string) edit {
	return func(s *v1beta1.StepStatus) {
		s.Queries = append(s.Queries, v1beta1.QueryResult{Name: name, Value: value, Limit: limit})
	}
}

func connections(value string) edit { return query("database connections", value, "20") }

func unanswered(name string) edit {
	return func(s *v1beta1.StepStatus) {
		s.Queries = append(s.Queries, v1beta1.QueryResult{Name: name, Limit: "20", Problem: "Prometheus: the server did not answer in time."})
	}
}

func growing(s *v1beta1.StepStatus) {
	s.Result.Outstanding = &v1beta1.OutstandingResult{Trend: v1beta1.OutstandingGrowing}
}

func TestSentence(t *testing.T) {
	killed := v1beta1.ContainerUsage{Name: "app", OutOfMemory: true, MemoryLimit: "64Mi"}
	kept := func(steps ...*v1beta1.StepStatus) []*v1beta1.StepStatus { return steps }
	for name, tc := range map[string]struct {
		kept    []*v1beta1.StepStatus
		broke   *v1beta1.StepStatus
		between bool
		want    string
	}{
		"CPU at its limit": {kept(step(20, app("300m", "310m"))), step(900, app("498m", "500m")), false,
			"Kept up to 380/s; from there shortener's CPU is at its limit of 500m."},
		"at 95 % of it":       {kept(step(20, app("300m", "310m"))), step(900, app("475m", "500m")), false, "Kept up to 380/s; from there shortener's CPU is at its limit of 500m."},
		"below 95 % of it":    {kept(step(20, app("300m", "310m"))), step(900, app("474m", "500m")), false, ""},
		"it was there before": {kept(step(20, app("200m", "200m")), step(20, app("480m", "500m"))), step(900, app("499m", "500m")), false, ""},
		"not known below":     {kept(step(20)), step(900, app("498m", "500m")), false, "Kept up to 380/s; at 400/s shortener's CPU is at its limit of 500m."},
		"a load between them that is neither": {kept(step(20, app("300m", "310m"))), step(900, app("498m", "500m")), true,
			"Kept up to 380/s; at 400/s shortener's CPU is at its limit of 500m."},
		"nothing was kept": {nil, step(900, app("498m", "500m")), false, "Not kept at 400/s, where shortener's CPU is at its limit of 500m."},
		"several pods": {kept(step(20, app("300m", "310m"))), step(900, app("498m", "500m"), pods(3)), false,
			"Kept up to 380/s; from there shortener's CPU is at its limit of 500m in the busiest of 3 pods."},
		"one of two containers": {
			kept(step(20, app("300m", "310m"), uses("proxy", "10m", "10m", "100m"))), step(900, app("498m", "500m"), uses("proxy", "20m", "20m", "100m")), false,
			"Kept up to 380/s; from there the CPU of container app of shortener is at its limit of 500m.",
		},
		"no limit":                 {kept(step(20, uses("app", "300m", "310m", ""))), step(900, uses("app", "4", "4", "")), false, ""},
		"out of memory":            {kept(step(20, app("1m", "1m"))), step(20, container(killed)), false, "Kept up to 380/s; from there container app of shortener was ended for its use of memory (its limit is 64Mi)."},
		"out of memory, as before": {kept(step(20, container(killed))), step(20, container(killed)), false, ""},
		"out of memory, without a limit": {kept(step(20)), step(20, container(v1beta1.ContainerUsage{Name: "app", OutOfMemory: true})), false,
			"Kept up to 380/s; at 400/s container app of shortener was ended for its use of memory."},
		"a query at its limit":             {kept(step(20, connections("7"))), step(900, connections("19")), false, `Kept up to 380/s; from there "database connections" is at 19 of 20.`},
		"a query at its limit before, too": {kept(step(20, connections("20"))), step(900, connections("20")), false, ""},
		"a query below it":                 {kept(step(20, connections("7"))), step(900, connections("18.9")), false, ""},
		"a query that was not answered below": {kept(step(20, unanswered("database connections"))), step(900, connections("20")), false,
			`Kept up to 380/s; at 400/s "database connections" is at 20 of 20.`},
		"a query without a limit":                    {kept(step(20, query("hits", "7", ""))), step(900, query("hits", "1000", "")), false, ""},
		"a query without an answer":                  {kept(step(20)), step(900, unanswered("database connections")), false, ""},
		"hostile numbers":                            {kept(step(20)), step(900, query("a", "1/0", "20"), query("b", "20", "0"), query("c", "20", "-1"), uses("app", "x", "", "0")), false, ""},
		"little CPU, slower responses":               {kept(step(20, app("100m", "110m"))), step(900, app("151m", "152m")), false, "Kept up to 380/s; from there shortener's CPU is at most 31% of its limit of 500m, which does not explain it."},
		"little CPU, more outstanding":               {kept(step(20, app("100m", "110m"))), step(20, growing, app("150m", "155m")), false, "Kept up to 380/s; from there shortener's CPU is at most 31% of its limit of 500m, which does not explain it."},
		"little CPU, as fast as before":              {kept(step(20, app("100m", "110m"))), step(29, app("150m", "155m")), false, ""},
		"little CPU, and nothing to compare":         {nil, step(900, app("150m", "155m")), false, ""},
		"half of the CPU":                            {kept(step(20, app("100m", "110m"))), step(900, app("240m", "250m")), false, "Kept up to 380/s; from there shortener's CPU is at most 50% of its limit of 500m, which does not explain it."},
		"more than half of it for a moment":          {kept(step(20, app("100m", "110m"))), step(900, app("150m", "251m")), false, ""},
		"little CPU of one, much of another":         {kept(step(20, app("100m", "110m"))), step(900, app("150m", "155m"), uses("proxy", "90m", "90m", "100m")), false, ""},
		"little CPU of one, another without a limit": {kept(step(20, app("100m", "110m"))), step(900, app("150m", "155m"), uses("proxy", "9", "9", "")), false, ""},
		"a query at its limit, and little CPU": {kept(step(20, app("100m", "110m"), connections("7"))), step(900, app("150m", "155m"), connections("20")), false,
			`Kept up to 380/s; from there "database connections" is at 20 of 20, while shortener's CPU is at most 31% of its limit of 500m.`},
		"both at their limits": {kept(step(20, app("100m", "110m"), connections("7"))), step(900, app("500m", "500m"), connections("20")), false,
			`Kept up to 380/s; from there shortener's CPU is at its limit of 500m, and "database connections" is at 20 of 20.`},
		"nothing is known": {kept(step(20)), step(900), false, ""},
		"a step without a response": {
			kept(step(20, app("300m", "310m"))), &v1beta1.StepStatus{Name: "x", Result: &v1beta1.StepResult{}, Environment: step(0, app("1m", "1m")).Environment}, false, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			upTo := "380/s"
			if tc.kept == nil {
				upTo = ""
			}
			got := why.Sentence(why.Run{Service: "shortener", UpTo: upTo, Kept: tc.kept, Broke: tc.broke, Load: "400/s", Between: tc.between})
			if got != tc.want {
				t.Errorf("%s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestSentenceIsShortEnoughForTheStatus(t *testing.T) {
	broke := step(900)
	for i := range 20 {
		query(strings.Repeat("x", 60)+string(rune('a'+i)), "20", "20")(broke)
	}
	if got := why.Sentence(why.Run{Load: "400/s", Broke: broke}); len([]rune(got)) > 512 || !strings.HasSuffix(got, "…") {
		t.Errorf("%d characters: %s", len([]rune(got)), got)
	}
}
