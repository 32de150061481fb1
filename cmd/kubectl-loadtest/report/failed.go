package report

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Failure is what a request failed with in all steps.
type Failure struct {
	// Request is its name, Class the class of the failures: "timeouts".
	Request, Class string
	// Message is the first sample; empty: there is none.
	Message string
	Count   int64
	// Where says in which step, or in how many and in which of them most.
	Where string
}

// FailuresByRequest are the failures of each request, in the order in which they come first.
func FailuresByRequest(steps []v1beta1.StepStatus) []Failure {
	type kind struct{ request, class string }
	at, most, in := map[kind]int{}, map[kind]int64{}, map[kind]int{}
	var list []Failure
	for i := range steps {
		if steps[i].Result == nil {
			continue
		}
		for j := range steps[i].Result.Requests {
			of := &steps[i].Result.Requests[j]
			for _, class := range Failures(&of.Counts) {
				message := sampleOf(of, class.outcome)
				if class.Count <= 0 && message == "" {
					continue
				}
				k := kind{of.Name, class.Name}
				if _, ok := at[k]; !ok {
					at[k] = len(list)
					list = append(list, Failure{Request: of.Name, Class: class.Name})
				}
				f := &list[at[k]]
				if f.Message == "" {
					f.Message = message
				}
				f.Count += class.Count
				if in[k]++; class.Count > most[k] || f.Where == "" {
					most[k], f.Where = class.Count, Title(&steps[i])
				}
			}
		}
	}
	for i := range list {
		k := kind{list[i].Request, list[i].Class}
		if n := in[k]; n > 1 {
			list[i].Where = fmt.Sprintf("%d steps, %d in %s", n, most[k], list[i].Where)
		}
	}
	return list
}

// sampleOf is the message of an outcome of a request, without its name; empty: there is none.
func sampleOf(r *v1beta1.RequestResult, outcome string) string {
	for _, e := range r.ErrorSamples {
		if e.Outcome == outcome {
			return withoutName(e.Message, r.Name)
		}
	}
	return ""
}
