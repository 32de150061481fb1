package question_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// queries are those of a configuration with these.
func queries(t *testing.T, list ...string) policy.Queries {
	t.Helper()
	p, err := policy.Load([]byte(`{prometheus: {url: "https://p", queries: [` + strings.Join(list, ", ") + `]}}`))
	must.Succeed(t, err)
	return p.For("shop").Queries
}

func naming(names ...string) *v1beta1.LoadTestSpec {
	s := &v1beta1.LoadTestSpec{Thresholds: []v1beta1.Threshold{{Metric: "p95"}}}
	for _, name := range names {
		s.Thresholds = append(s.Thresholds, v1beta1.Threshold{Metric: "Query", Query: name})
	}
	return s
}

func TestChosenQueries(t *testing.T) {
	var many, names []string
	for i := range 21 {
		names = append(names, fmt.Sprint("q", i))
		many = append(many, fmt.Sprintf("{name: q%d, expression: up}", i))
	}
	const limited, hits = "{name: connections, expression: a, limit: 20}", "{name: hits, expression: b}"
	for name, tc := range map[string]struct {
		queries []string
		named   []string
		want    []string
		problem string
	}{
		"none":                 {queries: []string{hits}},
		"those with a limit":   {queries: []string{hits, limited}, want: []string{"connections"}},
		"what thresholds name": {queries: []string{hits, limited}, named: []string{"hits", "connections", "hits"}, want: []string{"hits", "connections"}},
		"one that is not there": {
			queries: []string{hits, limited}, named: []string{"hits", "hist"},
			problem: `spec.thresholds[2].query: there is no query "hist" for this namespace in prometheus.queries of the operator's configuration; the queries are hits, connections.`,
		},
		"one of many":  {queries: many, named: []string{"hist"}, problem: `spec.thresholds[1].query: there is no query "hist" for this namespace in prometheus.queries of the operator's configuration; the queries are q0, q1, q2, q3, q4, q5, q6, q7 and 13 more.`},
		"one of none":  {named: []string{"hits"}, problem: `spec.thresholds[1].query: there is no query "hits": the operator's configuration has none for this namespace in prometheus.queries.`},
		"too many":     {queries: many, named: names, problem: "spec.thresholds: they name too many queries: with those that the administrator asks for, a LoadTest may have 20."},
		"just as many": {queries: many, named: names[:20], want: names[:20]},
	} {
		t.Run(name, func(t *testing.T) {
			got, problem := question.Chosen(naming(tc.named...), queries(t, tc.queries...))
			if diff := cmp.Diff(tc.want, got); diff != "" || problem != tc.problem {
				t.Errorf("problem %q, want %q; names (-want +got):\n%s", problem, tc.problem, diff)
			}
		})
	}
}

// A question is about the window alone, of which the warm-up is no part.
func TestQuestionsAboutAStep(t *testing.T) {
	began := metav1.NewMicroTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	step := &v1beta1.StepStatus{StartTime: &began, Load: v1beta1.StepLoad{WarmUp: &metav1.Duration{Duration: 5 * time.Second}}}
	all := queries(t, `{name: connections, expression: 'max_over_time(x{n="$namespace"}[$window])', limit: 20}`, `{name: of service, expression: 'y{s="$service"}'}`)
	got := question.About([]string{"of service", "gone", "connections"}, all, 3, step, 29_999_700*time.Microsecond, policy.QueryValues{Namespace: "shop"})
	want := question.Asked{Step: 3, At: began.Add(35 * time.Second), Questions: []question.Question{
		{Name: "of service", Problem: "the expression has $service, and the target is not a Service"},
		{Name: "gone", Problem: "The operator's configuration has no such query any more."},
		{Name: "connections", Expression: `max_over_time(x{n="shop"}[30000ms])`, Limit: "20"},
	}}
	same.As(t, "questions", want, got)
	if short := question.About([]string{"connections"}, all, 0, step, 0, policy.QueryValues{}); !strings.HasSuffix(short.Questions[0].Expression, "[1ms])") {
		t.Errorf("of a burst that took no time: %s", short.Questions[0].Expression)
	}
}

func TestAnswersTakeNoMoreThanIsPlanned(t *testing.T) {
	q := question.Question{Name: strings.Repeat("x", 63), Limit: "999999999999.999999"}
	for _, r := range []v1beta1.QueryResult{q.Answered(strings.Repeat("9", 32)), q.Unanswered(strings.Repeat("x", 999) + "\x1b")} {
		raw, err := json.Marshal(r)
		must.Succeed(t, err)
		if len(raw)+1 > question.MaxSize+len(q.Name) {
			t.Errorf("%d bytes, %d are planned: %s", len(raw), question.MaxSize+len(q.Name), raw)
		}
	}
}
