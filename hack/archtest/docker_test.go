package archtest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// What .dockerignore lets into the image builds is all that the images' programs are made of.
func TestDockerReadsWhatItBuilds(t *testing.T) {
	const root = "../.."
	ignored := must.ReadFile(t, filepath.Join(root, ".dockerignore"))
	recipe := must.ReadFile(t, filepath.Join(root, "Dockerfile"))
	args := []string{"list", "-deps", "-f", "{{.ImportPath}}"}
	for line := range strings.Lines(string(recipe)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "RUN" && words[1] == "go" && words[2] == "build" {
			args = append(args, words[len(words)-1])
		}
	}
	command := exec.Command("go", args...)
	command.Dir = root
	out, err := command.Output()
	must.Succeed(t, err)
	found := 0
	for path := range strings.Lines(string(out)) {
		folder, ours := strings.CutPrefix(strings.TrimSpace(path), "github.com/loadtest-dev/loadtest-operator/")
		if !ours {
			continue
		}
		found++
		if !reads(string(ignored), folder) {
			t.Errorf(".dockerignore leaves %s out, which the Dockerfile builds: add !%s", folder, strings.Split(folder, "/")[0])
		}
	}
	if len(args) < 8 || found < 20 {
		t.Errorf("%d programs of %d packages were found, which is too few to be true", len(args)-4, found)
	}
}

// reads says whether a folder, or one that it is in, is let in.
func reads(ignored, folder string) bool {
	for line := range strings.Lines(ignored) {
		in, ok := strings.CutPrefix(strings.TrimSpace(line), "!")
		if ok && (folder == in || strings.HasPrefix(folder, in+"/")) {
			return true
		}
	}
	return false
}
