//go:build e2e

package abuse

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

// refusedByWorker are the reasons of WorkersReady that are a worker's own words.
var refusedByWorker = []string{v1beta1.ReasonTargetUnreachable, v1beta1.ReasonWorkerRefused, v1beta1.ReasonPreflightFailed}

// apply creates a LoadTest as an editor of a tenant, and says what came of it: what the
// API server says if it refuses it, else what refuses the run. It succeeded if a request
// was sent, or a run went to its end.
func (tn *tenant) apply(t *testing.T, spec string) attempt {
	t.Helper()
	object := tn.loadTest(t, spec)
	if err := tn.editor.Create(t.Context(), object); err != nil {
		return byAPI(t, err)
	}
	defer func() {
		_ = cluster.API.Delete(context.Background(), object, client.PropagationPolicy(metav1.DeletePropagationBackground))
	}()
	return tn.outcome(t, client.ObjectKeyFromObject(object))
}

// outcome waits until it is known what came of a run.
func (tn *tenant) outcome(t *testing.T, key client.ObjectKey) attempt {
	t.Helper()
	lt, got := &v1beta1.LoadTest{}, attempt{}
	cluster.Soon(t, func(ctx context.Context) error {
		if err := cluster.API.Get(ctx, key, lt); err != nil {
			return err
		}
		var known bool
		if got, known = outcomeOf(lt); !known {
			return fmt.Errorf("%s: nothing came of it: %+v", key.Name, lt.Status.Conditions)
		}
		return nil
	})
	return got
}

func outcomeOf(lt *v1beta1.LoadTest) (attempt, bool) {
	accepted, ready := cluster.Condition(lt, v1beta1.ConditionAccepted), cluster.Condition(lt, v1beta1.ConditionWorkersReady)
	ended := cluster.Condition(lt, v1beta1.ConditionCarriedOut)
	switch {
	case cluster.SentBy(lt) > 0, ended.Status == metav1.ConditionTrue:
		return succeeded("%d requests were sent, verdict %q", cluster.SentBy(lt), lt.Status.Verdict), true
	case accepted.Status == metav1.ConditionFalse:
		return refused(operator, accepted.Message), true
	case ready.Status == metav1.ConditionFalse && strings.HasPrefix(ready.Message, "spec.target: "):
		return refused(operator, ready.Message), true // which does not create workers until it is mended
	case ready.Status == metav1.ConditionFalse && slices.Contains(refusedByWorker, ready.Reason):
		return refused(worker, ready.Message), true
	case ready.Status == metav1.ConditionFalse && ready.Reason == v1beta1.ReasonImagePull:
		return refused(kubelet, ready.Message), true
	case ready.Status == metav1.ConditionFalse && ready.Reason == v1beta1.ReasonCreateRefused && strings.HasPrefix(ready.Message, "A Job with the name of the LoadTest exists"):
		return refused(operator, ready.Message), true
	case ready.Status == metav1.ConditionFalse && ready.Reason == v1beta1.ReasonCreateRefused:
		return refused(apiServer, ready.Message), true
	case ended.Status == metav1.ConditionFalse:
		return refused(operator, ended.Message), true
	}
	return attempt{}, false
}

// harmless is a spec that the API server takes.
const harmless = `
target: {service: {name: api}}
requests: [{name: home, http: {path: /}}]
steps: [{name: 1/s, rate: 1, duration: 1s}]
`

// specWith is the harmless spec with other fields, and without those that are null.
func specWith(fields string) string {
	spec := map[string]any{}
	for _, part := range []string{harmless, fields} {
		if err := yaml.Unmarshal([]byte(part), &spec); err != nil {
			panic(fmt.Sprintf("%s: %v", part, err)) // it is a constant
		}
	}
	maps.DeleteFunc(spec, func(_ string, field any) bool { return field == nil })
	text, err := yaml.Marshal(spec)
	if err != nil {
		panic(err)
	}
	return string(text)
}
