package expect

import (
	"fmt"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
)

// nothingLost is expected of the experiments that store something.
func nothingLost(seed string, about ...string) Expectation {
	return Expectation{seed + "-nothing-lost", about, "What was acknowledged is stored, once.",
		"An audit finds less stored than was acknowledged, or more than can have been sent.", func(e *evidence) (string, statistics.Answer) {
			var acknowledged, change, unknown int64
			var not []string
			answer := statistics.Yes
			for _, name := range about {
				for i := range e.Results[name].LoadTests {
					lt := &e.Results[name].LoadTests[i]
					for _, a := range lt.Status.Audits {
						if a.State != v1beta1.AuditPassed || a.Change == nil || a.Unknown == nil {
							answer = both(answer, map[v1beta1.AuditState]statistics.Answer{v1beta1.AuditFailed: statistics.No}[a.State])
							not = append(not, fmt.Sprintf("%s %s (%s)", name, lt.Name, a.Message))
							continue
						}
						acknowledged, change, unknown = acknowledged+a.Acknowledged, change+*a.Change, unknown+*a.Unknown
					}
				}
			}
			found := fmt.Sprintf("%d items were acknowledged and %d stored; of %d more it was open whether they were", acknowledged, change, unknown)
			if len(not) > 0 {
				found += ", but not " + strings.Join(not, ", ")
			}
			return found + ".", both(answer, yes(acknowledged > 0))
		}}
}
