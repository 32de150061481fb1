//go:build e2e

package runs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/docs/console"
	"github.com/loadtest-dev/loadtest-operator/hack/docs/page"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// tutorialTries is how often the tutorial is begun at most: on a machine that is busy a
// run may be inconclusive, and what follows builds on its verdict.
const tutorialTries = 3

// TestTutorial types the commands of docs/tutorial.md in a folder with the files that the
// page shows, and compares what they print with the page.
func TestTutorial(t *testing.T) {
	cluster.OnlyFull(t)
	t.Parallel()
	text, err := os.ReadFile("../../../docs/tutorial.md")
	must.Succeed(t, err)
	blocks := page.Parse(text).Blocks
	for try := 1; ; try++ {
		typed, busy := tutorial(t, blocks)
		if !busy {
			if typed < 10 {
				t.Errorf("the tutorial has %d commands only", typed)
			}
			fmt.Printf("tutorial: %d commands\n", typed)
			return
		}
		if try == tutorialTries {
			t.Fatalf("the generator was the limit in each of %d tries", try)
		}
	}
}

// tutorial goes through the page once, in a namespace of its own, until a run has no verdict
// for the generator's sake on a machine that says that it is busy.
func tutorial(t *testing.T, blocks []page.Block) (typed int, busy bool) {
	t.Helper()
	machine := pressure.Start()
	dir, ns := t.TempDir(), fmt.Sprintf("tutorial-%x", time.Now().UnixNano()) // the one before may still be being deleted
	root, err := filepath.Abs("../../..")
	if err == nil {
		err = os.Symlink(filepath.Join(root, "charts"), filepath.Join(dir, "charts"))
	}
	must.Succeed(t, err)
	t.Cleanup(func() {
		_ = exec.Command("kubectl", "delete", "namespace", ns, "--ignore-not-found", "--wait=false").Run()
	})
	for _, b := range blocks {
		_, file, named := strings.Cut(b.Info, " ")
		switch {
		case b.Language == "yaml" && named:
			must.Succeed(t, os.WriteFile(filepath.Join(dir, file), []byte(b.Text), 0o600))
		case b.Language == "console":
			for _, c := range console.Parse(strings.ReplaceAll(b.Text, "tutorial", ns)) {
				out, err := typeIn(t, dir, c.Line)
				typed++
				missing := c.Missing(out)
				if err == nil && missing == "" {
					continue
				}
				said := machine.Read()
				if said.Busy() && (strings.Contains(out, "It shows in the result") || anyUndecided(t, ns)) {
					return typed, true
				}
				if err != nil {
					t.Fatalf("%s: %v (%s)\n%s", c.Line, err, said, out)
				}
				t.Fatalf("%s (docs/tutorial.md, block of line %d) does not print\n%s\nbut (%s)\n%s", c.Line, b.Line, missing, said, out)
			}
		}
	}
	return typed, false
}

// anyUndecided says whether a run of the namespace has no verdict for the generator's sake: a
// command that waits for a run to pass does not say so.
func anyUndecided(t *testing.T, ns string) bool {
	t.Helper()
	var runs v1beta1.LoadTestList
	must.Succeed(t, cluster.API.List(t.Context(), &runs, client.InNamespace(ns)))
	return slices.ContainsFunc(runs.Items, func(lt v1beta1.LoadTest) bool { return cluster.IsUndecided(&lt) })
}

// typeIn runs a command line as a shell does.
func typeIn(t *testing.T, dir, line string) (string, error) {
	t.Helper()
	if strings.HasPrefix(line, "helm install") { // another cluster has other images, and may enforce no policies
		if cluster.Env("CLUSTER", "local") != "local" {
			line = strings.Replace(line, "-f charts/targets/values-local.yaml", "", 1)
		}
		line += fmt.Sprintf(" --set ratelimiter.image.repository=%s --set ratelimiter.image.tag=%s --set networkPolicy.enabled=%t", cluster.Image("ratelimiter"), cluster.ImageTag(), cluster.Enforced())
	}
	c := exec.CommandContext(t.Context(), "bash", "-c", line)
	c.Dir = dir
	out, err := c.CombinedOutput()
	return string(out), err
}
