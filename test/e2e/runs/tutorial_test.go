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

// pageTries is how often a page is begun at most: on a machine that is busy a run may be
// inconclusive, and what follows builds on its verdict.
const pageTries = 3

// walked is a page whose commands are typed in the cluster.
type walked struct {
	file string
	// namespace is what the page calls its own.
	namespace string
	// info begins the info of the blocks with its commands, and least is how many commands these have.
	info  string
	least int
}

// TestTutorial types the commands of docs/tutorial.md in a folder with the files that the
// page shows, and compares what they print with the page.
func TestTutorial(t *testing.T) {
	cluster.OnlyFull(t)
	t.Parallel()
	walk(t, walked{file: "docs/tutorial.md", namespace: "tutorial", info: "console", least: 10})
}

// TestFirstHalfHour does the same for the parts of docs/first-half-hour.md that need a cluster;
// examples/shop has the others.
func TestFirstHalfHour(t *testing.T) {
	cluster.OnlyFull(t)
	if cluster.Env("CLUSTER", "local") != "local" {
		t.Skip("the page's commands name the local cluster's images")
	}
	t.Parallel()
	walk(t, walked{file: "docs/first-half-hour.md", namespace: "store", info: "console cluster", least: 7})
}

// walk types the commands of a page until they print what it says, and again only if a run had no
// verdict for the generator's sake on a machine that says that it is busy.
func walk(t *testing.T, w walked) {
	t.Helper()
	text := must.ReadFile(t, filepath.Join("../../..", w.file))
	blocks := page.Parse(text).Blocks
	for try := 1; ; try++ {
		typed, busy := w.once(t, blocks)
		if !busy {
			if typed < w.least {
				t.Errorf("%s has %d commands only", w.file, typed)
			}
			fmt.Printf("%s: %d commands\n", w.file, typed)
			return
		}
		if try == pageTries {
			t.Fatalf("the generator was the limit in each of %d tries", try)
		}
	}
}

// once goes through the page once, in a namespace of its own.
func (w walked) once(t *testing.T, blocks []page.Block) (typed int, busy bool) {
	t.Helper()
	machine := pressure.Start()
	dir, ns := t.TempDir(), fmt.Sprintf("%s-%x", w.namespace, time.Now().UnixNano()) // the one before may still be being deleted
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
		case strings.HasPrefix(b.Info, w.info):
			for _, c := range console.Parse(strings.ReplaceAll(b.Text, w.namespace, ns)) {
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
				t.Fatalf("%s (%s, block of line %d) does not print\n%s\nbut (%s)\n%s", c.Line, w.file, b.Line, missing, said, out)
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
