//go:build e2e

package judgement

import (
	"fmt"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// repeatedSpec sends 320 requests three times over, of which one time may fail. In the pauses
// the targets of two runs are changed, of which one may begin some seconds after the other.
const repeatedSpec = `
target: {service: {name: counter}}
requests: [{name: count, http: {path: /repeated}}]
repetitions: 3
steps: [{name: send, %s}, {name: rest, pause: 8s}]
thresholds: [{metric: failureRate, max: 1%%, inRepetitions: 2}]
`

// checkInRepetitions has one target answer wrongly in the second of three repetitions, and
// another one in the second and the third. The targets change in the pauses, and count
// their wrong answers.
func checkInRepetitions(t *testing.T) judgement {
	var found string
	var tests []*v1beta1.LoadTest
	var targets []cluster.Counter
	for range 2 {
		ns := cluster.Namespace(t)
		target := cluster.CounterOf(t, ns)
		targets, tests = append(targets, target), append(tests, cluster.Create(t, ns, "repeated", fmt.Sprintf(repeatedSpec, fading)))
	}
	change := func(i, pause int, mode string) {
		cluster.Until(t, tests[i], "in a pause", func(lt *v1beta1.LoadTest) bool {
			return len(lt.Status.Steps) > pause && lt.Status.Steps[pause].State == v1beta1.StepRunning
		})
		must.Succeed(t, targets[i].Behave(t.Context(), mode))
	}
	change(0, 1, "wrong")
	change(1, 1, "wrong")
	change(0, 3, "ok")
	for i, lt := range tests {
		cluster.Finish(t, lt)
		counts := targets[i].MustRead(t)
		found += fmt.Sprintf("%s with %d wrong of %d; ", lt.Status.Verdict, counts["repeated"].Wrong, counts["repeated"].Received)
	}
	return agree("Passed with 320 wrong of 960; Failed with 640 wrong of 960; ", found, tests...)
}
