//go:build e2e

package ecosystem

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// previousTag is that of the images that hack/previous.sh builds.
const previousTag = "previous"

// previous is the version before this one, in a folder: its chart, and its images in the cluster.
// The variable PREVIOUS names its commit.
func previous(t *testing.T) (folder, commit string) {
	t.Helper()
	folder = t.TempDir()
	args := []string{folder}
	if named := os.Getenv("PREVIOUS"); named != "" {
		args = append(args, named)
	}
	build := exec.CommandContext(t.Context(), "../../../hack/previous.sh", args...)
	build.Stderr = os.Stderr
	out, err := build.Output()
	must.Succeed(t, err)
	cluster.MustCommand(t, "cluster", "load", filepath.Join(folder, "operator.tar"), filepath.Join(folder, "worker.tar"))
	return folder, strings.TrimSpace(string(out))[:12]
}

// worksWithThePrevious has adjacent versions work together: a run that began with the version
// before this one goes on through the upgrade, and a run of each operator is carried out by
// the worker of the other.
func worksWithThePrevious(t *testing.T) string {
	folder, commit := previous(t)
	keepRelease(t)
	// Without the configuration of this one, which may have fields that the one before does not know.
	install := func(chart, operator, worker string) {
		t.Helper()
		inOperator(t, "upgrade", chart, "--reset-then-reuse-values", "--wait", "--set", "config=null,image.tag="+operator+",workerImage.tag="+worker)
	}
	old := filepath.Join(folder, "chart")
	install(old, previousTag, previousTag)
	seen := []string{"previous to this one: " + sendsThrough(t, func() { install(operatorChart, cluster.ImageTag(), cluster.ImageTag()) })}
	install(operatorChart, cluster.ImageTag(), previousTag)
	seen = append(seen, "the worker before: "+sendsThrough(t, func() {}))
	install(old, previousTag, cluster.ImageTag())
	seen = append(seen, "the operator before: "+sendsThrough(t, func() {}))
	return fmt.Sprintf("%s (%s)", strings.Join(seen, "; "), commit)
}

// sendsThrough has something happen in the middle of a run, which must be counted exactly.
func sendsThrough(t *testing.T, happen func()) string {
	t.Helper()
	target, err := cluster.StartCounter(t.Context(), cluster.Namespace(t), "")
	must.Succeed(t, err)
	lt := cluster.Create(t, target.Namespace, "run", longRun)
	cluster.Until(t, lt, "sending", cluster.Sending)
	happen()
	cluster.Finish(t, lt)
	return exactly(t, lt, target, longRunSends)
}
