//go:build e2e

package runs

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// fromVolume has a hundred times more rows than a ConfigMap holds.
const fromVolume = `
target: {service: {name: counter}}
requests: [{name: home, http: {path: "/${name}"}}]
data: [{name: people, format: CSV, choice: Sequential, from: {volume: {claim: loadtest-rows, path: rows/people.csv}}}]
steps: [{name: steady, rate: 100, duration: 2s}]
parallelism: 2
worker: {resources: {requests: {cpu: 50m, memory: 64Mi}, limits: {memory: 512Mi}}}
`

// TestRowsOfAVolume: two workers read their rows from a file of 180 MB on a claim: each
// has more than fits into the 64 MiB that it takes without a limit of its memory.
func TestRowsOfAVolume(t *testing.T) {
	t.Parallel()
	ns := cluster.Namespace(t)
	counter, err := cluster.StartCounter(t.Context(), ns, "")
	must.Succeed(t, err)
	writeRows(t, claim(t, ns, "loadtest-rows"), 180<<20)
	lt := cluster.Create(t, ns, "volume", fromVolume)
	cluster.Finish(t, lt)
	if why := v1beta1.NotCarriedOut(lt.Status.Conditions); why != nil {
		t.Fatalf("%s: %s", why.Reason, why.Message)
	}
	// The two workers have every second row, and begin with their first.
	counted := counter.MustRead(t)
	for i := range 200 {
		if name := fmt.Sprintf("person-%07d", i); counted[name].Received != 1 {
			t.Errorf("the target counted %+v of row %s, want 1", counted[name], name)
		}
	}
	if sent := cluster.SentBy(lt); sent != 200 || len(counted) != 200 {
		t.Errorf("%d were sent, and the target counted %d rows; want 200", sent, len(counted))
	}
}

// claim makes a PersistentVolumeClaim, and returns the folder of its volume: all nodes are processes
// of this machine.
func claim(t *testing.T, namespace, name string) string {
	t.Helper()
	pvc := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	must.Succeed(t, cluster.API.Create(t.Context(), pvc))
	volume := &corev1.PersistentVolume{}
	cluster.Soon(t, func(ctx context.Context) error {
		if err := cluster.API.Get(ctx, client.ObjectKeyFromObject(pvc), pvc); err != nil {
			return err
		}
		if pvc.Status.Phase != corev1.ClaimBound {
			return fmt.Errorf("claim %s is %s", name, pvc.Status.Phase)
		}
		return cluster.API.Get(ctx, client.ObjectKey{Name: pvc.Spec.VolumeName}, volume)
	})
	return volume.Spec.Local.Path
}

// writeRows writes rows of a kilobyte.
func writeRows(t *testing.T, folder string, size int) {
	t.Helper()
	must.Succeed(t, os.MkdirAll(filepath.Join(folder, "rows"), 0o755))
	f, err := os.Create(filepath.Join(folder, "rows", "people.csv"))
	must.Succeed(t, err)
	w := bufio.NewWriter(f)
	_, err = w.WriteString("name,filler\n")
	must.Succeed(t, err)
	for i := range size / 1000 {
		_, err = fmt.Fprintf(w, "person-%07d,%0980d\n", i, i)
		must.Succeed(t, err)
	}
	must.Succeed(t, w.Flush())
	must.Succeed(t, f.Close())
}
