package pipelines

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// githubStep is a step of an action or a workflow.
type githubStep struct {
	ID              string            `json:"id"`
	Name            string            `json:"name"`
	If              string            `json:"if"`
	Uses            string            `json:"uses"`
	Shell           string            `json:"shell"`
	Run             string            `json:"run"`
	Env             map[string]string `json:"env"`
	With            map[string]string `json:"with"`
	ContinueOnError bool              `json:"continue-on-error"`
}

// githubAction is the metadata of a composite action.
type githubAction struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Inputs      map[string]struct {
		Description string `json:"description"`
		Required    bool   `json:"required"`
		Default     string `json:"default"`
	} `json:"inputs"`
	Outputs map[string]struct {
		Description string `json:"description"`
		Value       string `json:"value"`
	} `json:"outputs"`
	Runs struct {
		Using string       `json:"using"`
		Steps []githubStep `json:"steps"`
	} `json:"runs"`
}

// githubJob runs steps one after another, as a runner of GitHub does. What they use of others is listed.
type githubJob struct {
	*project
	t *testing.T
	// values are what expressions are replaced by: "inputs.file", "steps.run.outputs.code".
	values map[string]string
	temp   string
	// summary is what was written to GITHUB_STEP_SUMMARY.
	summary string
	used    []string
	// artifacts are the names of what was uploaded.
	artifacts []string
	failed    bool
	output    string
}

var expression = regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)

// expand replaces the expressions of a text.
func (j *githubJob) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(match string) string { return j.value(expression.FindStringSubmatch(match)[1]) })
}

// value is that of a literal or a name.
func (j *githubJob) value(name string) string {
	if literal, ok := strings.CutPrefix(name, "'"); ok {
		return strings.TrimSuffix(literal, "'")
	}
	value, ok := j.values[name]
	if !ok && !strings.HasPrefix(name, "steps.") { // steps that did not run have no outputs
		j.t.Fatalf("expression %q is not known", name)
	}
	return value
}

// holds is a condition: comparisons that && joins, and always().
func (j *githubJob) holds(condition string) bool {
	always, holds := false, true
	for term := range strings.SplitSeq(condition, "&&") {
		switch a, b, equal := strings.Cut(strings.TrimSpace(term), " == "); {
		case a == "always()":
			always = true
		case equal:
			holds = holds && j.value(a) == j.value(b)
		case strings.HasSuffix(a, " != ''"):
			holds = holds && j.value(strings.TrimSuffix(a, " != ''")) != ""
		case a != "":
			j.t.Fatalf("condition %q is not known", term)
		}
	}
	return holds && (always || !j.failed)
}

func (j *githubJob) steps(list []githubStep) {
	for _, step := range list {
		if !j.holds(step.If) {
			continue
		}
		if step.Uses != "" {
			j.use(step)
			continue
		}
		if strings.Contains(step.Run, "${{") {
			j.t.Errorf("a script has an expression in it, whose value would run as code:\n%s", step.Run)
		}
		j.run(step)
	}
}

// run runs the script of a step and reads what it wrote for the runner.
func (j *githubJob) run(step githubStep) {
	outputs, summary := filepath.Join(j.t.TempDir(), "output"), filepath.Join(j.t.TempDir(), "summary")
	action, err := filepath.Abs("../action")
	must.Succeed(j.t, err)
	env := map[string]string{
		"GITHUB_OUTPUT": outputs, "GITHUB_STEP_SUMMARY": summary, "GITHUB_ACTION_PATH": action, "GITHUB_REPOSITORY": "o/r", "RUNNER_TEMP": j.temp,
	}
	for name, value := range step.Env {
		env[name] = j.expand(value)
	}
	code, output := j.shell(j.t, j.folder, step.Run, env)
	j.output += output
	j.failed = j.failed || code != 0 && !step.ContinueOnError
	if step.ContinueOnError && code != 0 {
		j.t.Errorf("exit code %d of\n%s\n%s", code, step.Run, output)
	}
	written, _ := os.ReadFile(outputs) // there is none if the step has no output
	for line := range strings.Lines(string(written)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		j.values["steps."+step.ID+".outputs."+name] = value
	}
	page, _ := os.ReadFile(summary)
	j.summary += string(page)
}

// use runs the action of this repository; the cache keeps a file, and others do nothing.
func (j *githubJob) use(step githubStep) {
	name, _, _ := strings.Cut(step.Uses, "@")
	j.used = append(j.used, name)
	with := map[string]string{}
	for key, value := range step.With {
		with[key] = j.expand(value)
	}
	switch name {
	case "loadtest-dev/loadtest-operator/deploy/action":
		j.action(step.ID, with)
	case "actions/cache/restore":
		if kept := j.read("/" + with["path"]); kept != "" {
			j.write(j.t, with["path"], kept)
		}
	case "actions/upload-artifact":
		j.artifacts = append(j.artifacts, with["name"])
		if name := with["name"]; name == "" || strings.ContainsAny(name, "\":<>|*?\r\n\\/") {
			j.t.Errorf("GitHub takes no artifact of the name %q", name)
		}
	case "actions/cache/save":
		must.Succeed(j.t, os.WriteFile(filepath.Join(j.service, with["path"]), []byte(j.read(with["path"])), 0o600))
	}
}

// action runs the composite action, with its own inputs.
func (j *githubJob) action(id string, with map[string]string) {
	var a githubAction
	source := must.ReadFile(j.t, "../action/action.yml")
	must.Succeed(j.t, yaml.UnmarshalStrict(source, &a))
	inner := *j
	inner.values = maps.Clone(j.values)
	inner.values["github.action_path"] = "../action"
	for name, input := range a.Inputs {
		value, given := with[name]
		if !given && input.Required {
			j.t.Fatalf("input %s is missing", name)
		}
		if !given {
			value = inner.expand(input.Default)
		}
		inner.values["inputs."+name] = value
		delete(with, name)
	}
	if len(with) > 0 || a.Runs.Using != "composite" {
		j.t.Fatalf("inputs %v are not known of an action that is %s", with, a.Runs.Using)
	}
	inner.steps(a.Runs.Steps)
	j.failed, j.used, j.artifacts, j.summary, j.output = inner.failed, inner.used, inner.artifacts, inner.summary, inner.output
	for name, output := range a.Outputs {
		j.values["steps."+id+".outputs."+name] = inner.expand(output.Value)
	}
}

// github runs the workflow of docs/pipelines.md, with more inputs of the action.
func (p *project) github(t *testing.T, event, ref string, extra map[string]string) *githubJob {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct{ Steps []githubStep } `json:"jobs"`
	}
	must.Succeed(t, yaml.Unmarshal([]byte(block(t, "deploy/action@")), &workflow))
	steps := workflow.Jobs["loadtest"].Steps
	if len(steps) == 0 {
		t.Fatal("the workflow has no job loadtest")
	}
	for i := range steps {
		if strings.Contains(steps[i].Uses, "deploy/action@") {
			maps.Copy(steps[i].With, extra)
		}
	}
	j := &githubJob{project: p, t: t, temp: t.TempDir(), values: map[string]string{
		"github.event_name": event, "github.ref": ref, "github.sha": "5f3e", "github.token": "token", "github.event.pull_request.number": "12",
	}}
	j.steps(steps)
	return j
}

// code is the exit code by which the action ended.
func (j *githubJob) code() int {
	code := -1
	_, _ = fmt.Sscan(j.values["steps.loadtest.outputs.code"], &code)
	return code
}

// The first run on the main branch has nothing to compare with and becomes the baseline; a pull
// request that is worse fails, and has one comment, which the next run changes.
func TestGitHub(t *testing.T) {
	p := newProject(t)
	var job *githubJob
	run := func(event, ref string, extra map[string]string) func() (int, string) {
		return func() (int, string) {
			job = p.github(t, event, ref, extra)
			if verdict := string(p.result(t).Status.Verdict); job.failed != (job.code() != 0) || job.values["steps.loadtest.outputs.verdict"] != verdict {
				t.Errorf("it failed: %t with exit code %d; the verdict is %s, want %s", job.failed, job.code(), job.values["steps.loadtest.outputs.verdict"], verdict)
			}
			return job.code(), job.output
		}
	}
	const event, ref = "pull_request", "refs/pull/12/merge"
	gate := map[string]string{"fail-on": "Regression"}
	if !p.ends(t, first, run("push", "refs/heads/main", gate)) {
		return
	}
	contains(t, "the summary", job.summary, "## local/checkout: ✅ Passed", "Nothing was compared, as spec.baseline.optional allows")
	if p.read("/baseline.json") != p.read("loadtest/result.json") || p.read("/comment.md") != "" {
		t.Errorf("the cache has %.100s, the comment is %s", p.read("/baseline.json"), p.read("/comment.md"))
	}
	want := "actions/checkout actions/cache/restore loadtest-dev/loadtest-operator/deploy/action actions/setup-go actions/upload-artifact actions/cache/save"
	if got := strings.Join(job.used, " "); got != want {
		t.Errorf("it uses %s", got)
	}
	kept := p.read("/baseline.json")
	p.ends(t, outcome{"Passed", 0, "✅ No regression"}, run(event, ref, gate))
	p.broken.Store(true)
	p.ends(t, outcome{"Failed", 1, "❌ Regression"}, run(event, ref, nil))
	contains(t, "the comment", p.read("/comment.md"), "<!-- kubectl-loadtest loadtest.yaml -->\n## ", "| step | metric | baseline | this run | difference |")
	p.write(t, "loadtest.yaml", replaced(t, p.read("loadtest.yaml"), relative, ""))
	p.ends(t, outcome{"Passed", 1, "❌ Regression"}, run(event, ref, gate))
	if p.read("/baseline.json") != kept {
		t.Error("a pull request became the baseline")
	}

	p.write(t, "loadtest.yaml", "kind: LoadTest")
	last := p.github(t, event, ref, nil)
	if last.code() != 4 || !last.failed || last.values["steps.loadtest.outputs.verdict"] != "Error" {
		t.Errorf("of a file that is no LoadTest: exit code %d, failed %t, verdict %s", last.code(), last.failed, last.values["steps.loadtest.outputs.verdict"])
	}
}

// The action writes one comment for each file and folder, and finds its own again.
func TestCommentIsChanged(t *testing.T) {
	p := newProject(t)
	// This plugin reports the file that it was to run; one of its files it cannot read.
	plugin := filepath.Join(t.TempDir(), "plugin")
	must.Succeed(t, os.WriteFile(plugin, []byte("#!/usr/bin/env bash\n"+`case "$*" in
  *broken.yaml*) exit 4 ;;
  *) echo "$@" ;;
esac`+"\n"), 0o700))
	for _, run := range []struct{ file, folder, method string }{
		{"a.yaml", "loadtest", "POST"}, {"a.yaml", "loadtest", "PATCH"}, {"b.yaml", "loadtest", "POST"},
		{"b.yaml", "with/http2", "POST"}, {"b.yaml", "with/http2", "PATCH"}, {"broken.yaml", "loadtest", ""},
	} {
		must.Succeed(t, os.RemoveAll(filepath.Join(p.service, "log")))
		j := &githubJob{project: p, t: t, temp: t.TempDir(), values: map[string]string{
			"github.event_name": "pull_request", "github.token": "token", "github.event.pull_request.number": "12",
		}}
		j.action("loadtest", map[string]string{"file": run.file, "folder": run.folder, "plugin": plugin})
		_, method, _ := strings.Cut(p.read("/log"), "--method ")
		if method, _, _ = strings.Cut(method, " "); method != run.method {
			t.Errorf("the comment of %s in %s is written by %q, want %q:\n%s", run.file, run.folder, method, run.method, p.read("/log"))
		}
		if run.method != "" {
			contains(t, "the comment", p.read("/comment.md"), "report -f "+run.folder+"/result.json -o markdown")
		}
	}
}

// A hostile name of a file or folder, or a hostile argument, is no code.
func TestInputsAreNoCode(t *testing.T) {
	p := newProject(t)
	mark := filepath.Join(p.service, "ran")
	hostile := "x$(touch " + mark + ")`touch " + mark + "`; touch " + mark + " #"
	j := &githubJob{project: p, t: t, temp: t.TempDir(), values: map[string]string{"github.event_name": "push", "github.token": "token"}}
	j.action("loadtest", map[string]string{"file": hostile, "baseline": hostile, "fail-on": hostile, "args": hostile, "folder": "out/of tests"})
	same.As(t, "artifacts", []string{"out-of tests"}, j.artifacts)
	if j.code() != 4 || !j.failed || p.read("/ran") != "" {
		t.Errorf("exit code %d, failed %t", j.code(), j.failed)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("an input ran as code")
	}
}
