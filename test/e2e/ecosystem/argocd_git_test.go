//go:build e2e

package ecosystem

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// gitRepository is a clone of the story's repository, which Argo CD reads inside the
// cluster. What is in it is examples/argocd.
type gitRepository struct{ folder string }

// argoCDRepository is its address in the cluster.
const argoCDRepository = "git://git.argocd.svc/shop.git"

func newGitRepository(t *testing.T) *gitRepository {
	t.Helper()
	g := &gitRepository{t.TempDir()}
	g.git(t, "init", "--quiet", "--initial-branch", "main")
	g.git(t, "config", "user.name", "story")
	g.git(t, "config", "user.email", "story@example.com")
	g.git(t, "remote", "add", "origin", "git://"+cluster.ForwardIn(t, argoCDNamespace, "pod/git", "9418")+"/shop.git")
	return g
}

func (g *gitRepository) git(t *testing.T, args ...string) string {
	t.Helper()
	return strings.TrimSpace(cluster.MustCommand(t, "git", append([]string{"-C", g.folder}, args...)...))
}

// put writes a file of examples/argocd into the repository, with replacements.
func (g *gitRepository) put(t *testing.T, file string, replace ...string) {
	t.Helper()
	content := must.ReadFile(t, filepath.Join("..", "..", "..", "examples", "argocd", file))
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(string(content), replace[i]) {
			t.Fatalf("%s has no %q", file, replace[i])
		}
	}
	g.write(t, file, []byte(strings.NewReplacer(replace...).Replace(string(content))))
}

func (g *gitRepository) write(t *testing.T, file string, content []byte) {
	t.Helper()
	target := filepath.Join(g.folder, file)
	must.Succeed(t, os.MkdirAll(filepath.Dir(target), 0o755))
	must.Succeed(t, os.WriteFile(target, content, 0o600))
}

// push commits everything and pushes it, and returns the revision.
func (g *gitRepository) push(t *testing.T, message string) (revision string) {
	t.Helper()
	g.git(t, "add", "--all")
	g.git(t, "commit", "--quiet", "--allow-empty", "--message", message)
	g.git(t, "push", "--quiet", "origin", "main")
	return g.git(t, "rev-parse", "HEAD")
}
