//go:build e2e

package ecosystem

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// TestRelease installs from the folder that make release has written, whose path is in the variable
// RELEASE, and upgrades from the version before with a run under way.
func TestRelease(t *testing.T) {
	folder := os.Getenv("RELEASE")
	if folder == "" {
		t.Skip("there is no release to check: make release VERSION=1.2.3 builds one for six platforms, which takes minutes, and make release-check VERSION=1.2.3 runs this")
	}
	r := &releaseFolder{path: folder}
	t.Cleanup(func() { fmt.Printf("release: %s: %d checks, %d failed\n", r.version, r.checks, r.failed) })
	r.check(t, "each file is there with its sum", r.hasItsSums)
	r.check(t, "the plugin of this machine has the version", r.unpackPlugin)
	r.check(t, "a run goes on through the upgrade from the version before", r.upgrade)
	r.check(t, "the plugin runs a load test", r.run)
}

// releaseFolder has the files of a release.
type releaseFolder struct {
	path, version, plugin string
	checks, failed        int
}

// check carries a check out. What follows needs it, so that the first that fails is the last.
func (r *releaseFolder) check(t *testing.T, name string, run func(*testing.T) string) {
	t.Helper()
	r.checks++
	r.failed = 1 // until it is over
	seen := run(t)
	if t.Failed() {
		t.FailNow()
	}
	r.failed = 0
	fmt.Printf("ok: %s: %s\n", name, seen)
}

func (r *releaseFolder) read(t *testing.T, name string) []byte {
	t.Helper()
	content := must.ReadFile(t, filepath.Join(r.path, name))
	return content
}

// hasItsSums compares the files with SHA256SUMS, and learns the version by the chart's name.
func (r *releaseFolder) hasItsSums(t *testing.T) string {
	listed := map[string]string{}
	for line := range strings.Lines(string(r.read(t, "SHA256SUMS"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = sum
	}
	files, err := os.ReadDir(r.path)
	must.Succeed(t, err)
	for _, file := range files {
		if strings.HasPrefix(file.Name(), "SHA256SUMS") {
			continue
		}
		same.As(t, file.Name()+" has the sum", listed[file.Name()], fmt.Sprintf("%x", sha256.Sum256(r.read(t, file.Name()))))
		if rest, ok := strings.CutPrefix(file.Name(), "loadtest-operator-"); ok {
			r.version = strings.TrimSuffix(rest, ".tgz")
		}
		delete(listed, file.Name())
	}
	if len(listed) > 0 || r.version == "" {
		t.Errorf("missing: %v; version %q", listed, r.version)
	}
	return fmt.Sprintf("%d files of %s", len(files), r.version)
}

func (r *releaseFolder) unpackPlugin(t *testing.T) string {
	folder := t.TempDir()
	archive := filepath.Join(r.path, fmt.Sprintf("kubectl-loadtest_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH))
	cluster.MustCommand(t, "tar", "-xzf", archive, "-C", folder)
	r.plugin = filepath.Join(folder, "kubectl-loadtest")
	said := strings.TrimSpace(cluster.MustCommand(t, r.plugin, "version"))
	if !strings.HasPrefix(said, "kubectl-loadtest v"+r.version+",") {
		t.Errorf("it says %q, want v%s", said, r.version)
	}
	return said
}

// upgrade installs the version before, with its own definitions and configuration, and this one while a run
// goes on. It uses the images of the folder, and pulls none.
func (r *releaseFolder) upgrade(t *testing.T) string {
	before, commit := previous(t)
	keepRelease(t)
	cluster.MustCommand(t, "cluster", "load", filepath.Join(r.path, "operator.oci.tar"), filepath.Join(r.path, "worker.oci.tar"))
	notes := string(r.read(t, "notes.md"))
	define := func(ctx context.Context, from string) {
		t.Helper()
		_, err := cluster.Command(ctx, "kubectl", "apply", "--server-side", "--force-conflicts", "-f", from)
		must.Succeed(t, err)
	}
	t.Cleanup(func() { define(context.Background(), filepath.Join(operatorChart, "crds")) })
	define(t.Context(), filepath.Join(before, "chart", "crds"))
	inOperator(t, "upgrade", filepath.Join(before, "chart"), "--reset-then-reuse-values", "--wait", "--set", "config=null,image.tag="+previousTag+",workerImage.tag="+previousTag)
	seen := sendsThrough(t, func() {
		define(t.Context(), filepath.Join(r.path, "crds.yaml"))
		inOperator(t, "upgrade", filepath.Join(r.path, "loadtest-operator-"+r.version+".tgz"), "--reset-then-reuse-values", "--wait", "--set",
			fmt.Sprintf("image.repository=%s,image.tag=%s,workerImage.repository=%s,workerImage.tag=%s", r.image(notes, "operator"), r.version, r.image(notes, "worker"), r.version))
	})
	return fmt.Sprintf("%s (from %s)", seen, commit)
}

// image is the repository of an image, by the notes.
func (r *releaseFolder) image(notes, name string) string {
	_, after, _ := strings.Cut(notes, "/"+name+" | `")
	repository, _, _ := strings.Cut(after, ":"+r.version+"@")
	return repository
}

// run carries a sample out by the release's operator, worker and plugin.
func (r *releaseFolder) run(t *testing.T) string {
	target, err := cluster.StartCounter(t.Context(), cluster.Namespace(t), "")
	must.Succeed(t, err)
	file := filepath.Join(t.TempDir(), "run.yaml")
	must.Succeed(t, os.WriteFile(file, []byte(`
apiVersion: loadtest.dev/v1beta1
kind: LoadTest
metadata: {name: released}
spec:
  target: {service: {name: counter}}
  requests: [{name: run, http: {path: /run}}]
  steps: [{name: burst, users: 4, requestsPerUser: 50}]
`), 0o600))
	out := cluster.MustCommand(t, r.plugin, "run", "-n", target.Namespace, "-f", file)
	counts := target.MustRead(t)
	if !strings.Contains(out, "Passed") || counts["run"].Received != 200 {
		t.Errorf("%d received, want 200:\n%s", counts["run"].Received, out)
	}
	return fmt.Sprintf("Passed, %d requests received", counts["run"].Received)
}
