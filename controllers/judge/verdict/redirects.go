package verdict

import (
	"fmt"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// redirects is a sentence on the first request whose every response was a redirect that is
// not expected, with a space before it; empty: there is none. The cause is then not the
// target's load, but the address or what is expected of it.
func (s sample) redirects(requests []v1beta1.RequestStatus) string {
	if s.threshold.Metric != v1beta1.MetricFailureRate {
		return ""
	}
	for i := range s.merged.Requests {
		r := &s.merged.Requests[i]
		if i >= len(requests) || !plan.IsAbout(s.threshold, requests, i) || r.Expected > 0 || len(r.StatusCodes) == 0 {
			continue
		}
		var codes []int
		for code := range r.StatusCodes {
			codes = append(codes, code)
		}
		if slices.ContainsFunc(codes, func(code int) bool { return !measure.IsRedirect(code) }) {
			continue
		}
		return fmt.Sprintf(" Every response to request %s was a redirect (%d), which was not followed: set http.followRedirects, add that status to expect.status, or send to the address that it names.",
			requests[i].Name, slices.Min(codes))
	}
	return ""
}
