package pipelines

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// gitlabJob is a job of GitLab CI/CD.
type gitlabJob struct {
	Extends      string            `json:"extends"`
	Variables    map[string]string `json:"variables"`
	BeforeScript []string          `json:"before_script"`
	Script       []string          `json:"script"`
}

// gitlab runs the job of docs/pipelines.md, which extends the template of this folder.
func (p *project) gitlab(t *testing.T, extra map[string]string) (code int, output string) {
	t.Helper()
	var template, project map[string]gitlabJob
	source := must.ReadFile(t, "gitlab.yml")
	must.Succeed(t, yaml.Unmarshal(source, &template))
	_, after, _ := strings.Cut(block(t, "extends: .loadtest"), "\n\n") // what is included is the template
	must.Succeed(t, yaml.Unmarshal([]byte(after), &project))
	job, base := project["loadtest"], template[".loadtest"]
	if job.Extends != ".loadtest" || len(base.Script) == 0 {
		t.Fatalf("the job is %+v", job)
	}
	env := map[string]string{
		"CI_JOB_NAME": "loadtest", "CI_API_V4_URL": "https://gitlab/api/v4", "CI_PROJECT_ID": "3", "CI_JOB_TOKEN": "job-token", "CI_DEFAULT_BRANCH": "main",
	}
	for _, values := range []map[string]string{base.Variables, job.Variables, extra} {
		maps.Copy(env, values)
	}
	scripts := append(append(base.BeforeScript, base.Script...), job.Script...)
	return p.shell(t, p.folder, strings.Join(scripts, "\n"), env)
}

func TestGitLab(t *testing.T) {
	p := newProject(t)
	run := func(extra map[string]string) func() (int, string) {
		return func() (int, string) { return p.gitlab(t, extra) }
	}
	request := map[string]string{"CI_MERGE_REQUEST_IID": "12", "LOADTEST_TOKEN": "token", "LOADTEST_FAIL_ON": "Regression"}
	if !p.ends(t, first, run(nil)) {
		return
	}
	if log := p.read("/log"); strings.Contains(log, "/notes") {
		t.Errorf("a pipeline of a branch comments: %s", log)
	}
	must.Succeed(t, os.WriteFile(filepath.Join(p.service, "result.json"), []byte(p.read("loadtest/result.json")), 0o600))
	p.ends(t, outcome{"Passed", 0, "✅ No regression"}, run(request))
	p.broken.Store(true)
	p.ends(t, outcome{"Failed", 1, "❌ Regression"}, run(request))
	contains(t, "the comment", p.read("/comment.md"), "checkout", "| step | metric | baseline | this run | difference |")
	p.write(t, "loadtest.yaml", replaced(t, p.read("loadtest.yaml"), relative, ""))
	p.ends(t, outcome{"Passed", 1, "❌ Regression"}, run(request))
	p.ends(t, outcome{"Passed", 0, "❌ Regression"}, run(nil)) // the documented job does not fail on it

	p.write(t, "loadtest.yaml", "kind: LoadTest")
	code, output := p.gitlab(t, nil)
	if code != 4 || p.read("loadtest/comment.md") != "" {
		t.Errorf("of a file that is no LoadTest: exit code %d, %s", code, output)
	}
}

func contains(t *testing.T, what, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%s does not have %q:\n%s", what, want, text)
		}
	}
}
