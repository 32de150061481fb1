package results

import (
	"reflect"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// addIdeal adds the times without the generator's own delay, where they differ.
func addIdeal(result *v1beta1.StepResult, total *measure.Request) {
	result.WithoutGenerator = unlike(result.ResponseTime, latency(total.Ideally()))
	if result.ExpectedResponseTime == nil {
		return
	}
	if ideal, ok := total.ExpectedIdeally(); ok {
		result.ExpectedWithoutGenerator = unlike(result.ExpectedResponseTime, latency(ideal))
	}
}

// addIdealOfPart adds the other end of the bracket of a type or a request.
func addIdealOfPart(result *v1beta1.PartResult, sum *measure.Request) {
	result.Undecided, result.Excused = sum.Undecided, sum.Excused
	result.WithoutGenerator = unlike(result.ResponseTime, latency(sum.Ideally()))
}

// unlike is the ideal distribution; nil if it is the measured one.
func unlike(measured, ideal *v1beta1.Latency) *v1beta1.Latency {
	if reflect.DeepEqual(measured, ideal) {
		return nil
	}
	return ideal
}
