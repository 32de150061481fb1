package results

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// onTime is how many requests succeeded within each of the times that
// thresholds name; nil if the workers did not count them.
func onTime(spec *v1beta1.LoadTestSpec, r *measure.Request) []v1beta1.OnTimeCount {
	times := plan.OnTime(spec)
	if len(r.OnTime) != len(times) {
		return nil
	}
	var list []v1beta1.OnTimeCount
	ideally := r.OnTimeIdeally()
	for i, within := range times {
		count := v1beta1.OnTimeCount{Within: metav1.Duration{Duration: within}, Requests: r.OnTime[i]}
		if i < len(ideally) && ideally[i] != r.OnTime[i] {
			count.WithoutGenerator = &ideally[i]
		}
		list = append(list, count)
	}
	return list
}

// expectedTimes are nil if each request that ended succeeded, so that the times of all are
// theirs, and if it is not known which did.
func expectedTimes(r *measure.Request) (response, service *v1beta1.Latency) {
	if r.Response.Count() == r.Successes() {
		return nil, nil
	}
	ofResponse, ofService, ok := r.ExpectedTimes()
	if !ok {
		return nil, nil
	}
	return latency(ofResponse), latency(ofService)
}
