package question

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/text"
)

const (
	// MaxNames is how many queries a run asks for.
	MaxNames = 20
	// MaxSize is what the answer to a query takes in a status at most, in bytes of JSON, its name left
	// out.
	MaxSize = 2*32 + maxProblem + 60
	// maxProblem bounds the sentence of what could not be answered.
	maxProblem = 256
)

// Asked are the questions about a step.
type Asked struct {
	// Step is the index of the step.
	Step int
	// At is the end of its window.
	At time.Time
	// Questions are in the order of the run's.
	Questions []Question
}

// Question is one of them. One with a Problem is not asked.
type Question struct {
	Name, Expression, Limit string
	Problem                 string
}

// Answers are those to the questions about a step.
type Answers struct {
	Step    int
	Results []v1beta1.QueryResult
}

// Chosen are the names of the queries that a run asks for: those of its thresholds, and those with
// a limit. It refuses a name that is not there.
func Chosen(spec *v1beta1.LoadTestSpec, queries policy.Queries) (names []string, problem string) {
	for i := range spec.Thresholds {
		name := spec.Thresholds[i].Query
		if name != "" && !queries.Allows(name) {
			return nil, fmt.Sprintf("spec.thresholds[%d].query: %s", i, unknown(name, queries))
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range queries.Limited() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > MaxNames {
		return nil, fmt.Sprintf("spec.thresholds: they name too many queries: with those that the administrator asks for, a LoadTest may have %d.", MaxNames)
	}
	return names, ""
}

func unknown(name string, queries policy.Queries) string {
	names := queries.Names()
	if len(names) == 0 {
		return fmt.Sprintf("there is no query %q: the operator's configuration has none for this namespace in prometheus.queries.", name)
	}
	const most = 8
	others := ""
	if more := len(names) - most; more > 0 {
		names, others = names[:most], fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("there is no query %q for this namespace in prometheus.queries of the operator's configuration; the queries are %s%s.", name, strings.Join(names, ", "), others)
}

// About are the questions about a step that has ended. window is how long it sent load, from the
// end of its warm-up on, and values what the variables but $window stand for.
func About(names []string, queries policy.Queries, i int, step *v1beta1.StepStatus, window time.Duration, values policy.QueryValues) Asked {
	window = max(window.Round(time.Millisecond), time.Millisecond)
	values.Window = fmt.Sprintf("%dms", window.Milliseconds())
	asked := Asked{Step: i}
	if step.StartTime != nil {
		asked.At = step.StartTime.Add(v1beta1.OrZero(step.Load.WarmUp) + window)
	}
	for _, name := range names {
		q := Question{Name: name}
		if of, ok := queries.Named(name); !ok {
			q.Problem = "The operator's configuration has no such query any more."
		} else {
			var err error
			q.Limit = of.Limit
			if q.Expression, err = of.Expand(values); err != nil {
				q.Problem = text.Clean(err.Error(), maxProblem)
			}
		}
		asked.Questions = append(asked.Questions, q)
	}
	return asked
}

// Unanswered is the result of a question without an answer.
func (q Question) Unanswered(why string) v1beta1.QueryResult {
	return v1beta1.QueryResult{Name: q.Name, Problem: text.Clean(why, maxProblem)}
}

// Answered is the result of a question that has been answered.
func (q Question) Answered(value string) v1beta1.QueryResult {
	return v1beta1.QueryResult{Name: q.Name, Value: value, Limit: q.Limit}
}
