//go:build e2e

package abuse

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// resultAbuses change what a run has measured.
var resultAbuses = []abuse{
	{"other results in place of a step's ConfigMap", plugin, "it was changed after the run", replacesResults},
	{"other results in a step's ConfigMap", apiServer, "field is immutable", func(t *testing.T, p *people) attempt {
		stored := storedResults(t, p.attacker, finishedRun(t, p.attacker))
		stored.BinaryData[archive.Key] = forged(t, stored)
		return byAPI(t, p.attacker.editor.Update(t.Context(), stored))
	}},
}

// replacesResults deletes the results of a run and makes others of their name, twice as
// many requests, and looks for them in the report.
func replacesResults(t *testing.T, p *people) attempt {
	t.Helper()
	lt := finishedRun(t, p.attacker)
	stored := storedResults(t, p.attacker, lt)
	if err := p.attacker.editor.Delete(t.Context(), stored.DeepCopy()); err != nil {
		return byAPI(t, err)
	}
	stored.BinaryData[archive.Key] = forged(t, stored)
	stored.ResourceVersion, stored.UID = "", ""
	if err := p.attacker.editor.Create(t.Context(), stored); err != nil {
		return byAPI(t, err)
	}
	report := exec.CommandContext(t.Context(), "kubectl-loadtest", "report", lt.Name, "-n", lt.Namespace, "-o", "html")
	var said bytes.Buffer
	report.Stderr = &said
	page, err := report.Output()
	if err == nil || bytes.Contains(page, []byte(">Over time</h2>")) {
		return succeeded("the report shows them: %v %s", err, said.String())
	}
	if !bytes.Contains(page, []byte("</html>")) {
		t.Fatalf("there is no report: %v: %s", err, said.String())
	}
	return refused(plugin, strings.TrimSpace(said.String()))
}

// forged are results of the same step with twice as many requests.
func forged(t *testing.T, stored *corev1.ConfigMap) []byte {
	t.Helper()
	step, err := archive.Decode(stored.BinaryData[archive.Key])
	must.Succeed(t, err)
	step.Due, step.Sent = 2*step.Due, 2*step.Sent
	packed, err := archive.Encode(*step)
	must.Succeed(t, err)
	return packed
}

// finishedRun is a run of the tenant that has ended.
func finishedRun(t *testing.T, tn *tenant) *v1beta1.LoadTest {
	t.Helper()
	object := tn.loadTest(t, specWith("steps: [{name: 5/s, rate: 5, duration: 2s}]"))
	must.Succeed(t, tn.editor.Create(t.Context(), object))
	t.Cleanup(func() {
		_ = cluster.API.Delete(context.Background(), object, client.PropagationPolicy(metav1.DeletePropagationBackground))
	})
	lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: tn.namespace, Name: object.GetName()}}
	cluster.Finish(t, lt)
	return lt
}

// storedResults are those of the run's only step.
func storedResults(t *testing.T, tn *tenant, lt *v1beta1.LoadTest) *corev1.ConfigMap {
	t.Helper()
	if len(lt.Status.ResultRefs) != 1 || lt.Status.ResultRefs[0].ConfigMap == "" {
		t.Fatalf("no results: %+v", lt.Status.ResultRefs)
	}
	stored := &corev1.ConfigMap{}
	must.Succeed(t, tn.editor.Get(t.Context(), client.ObjectKey{Namespace: lt.Namespace, Name: lt.Status.ResultRefs[0].ConfigMap}, stored))
	return stored
}
