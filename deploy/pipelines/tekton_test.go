package pipelines

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// tektonTask is a Task of Tekton, as far as it is run here.
type tektonTask struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Description string `json:"description"`
		Params      []struct {
			Name, Description string
			Default           *string
		} `json:"params"`
		Workspaces []struct{ Name, Description string } `json:"workspaces"`
		Results    []struct{ Name, Description string } `json:"results"`
		Steps      []struct {
			Name            string                         `json:"name"`
			Image           string                         `json:"image"`
			WorkingDir      string                         `json:"workingDir"`
			Env             []struct{ Name, Value string } `json:"env"`
			SecurityContext map[string]any                 `json:"securityContext"`
			Script          string                         `json:"script"`
		} `json:"steps"`
	} `json:"spec"`
}

// tektonRun is a TaskRun that names a Task.
type tektonRun struct {
	Spec struct {
		TaskRef struct{ Name string }          `json:"taskRef"`
		Params  []struct{ Name, Value string } `json:"params"`
	} `json:"spec"`
}

// tekton runs the Task of this folder as the TaskRun of docs/pipelines.md does, with more parameters.
func (p *project) tekton(t *testing.T, extra map[string]string) (code int, output, verdict string) {
	t.Helper()
	var task tektonTask
	source := must.ReadFile(t, "tekton.yaml")
	must.Succeed(t, yaml.UnmarshalStrict(source, &task))
	var run tektonRun
	must.Succeed(t, yaml.Unmarshal([]byte(block(t, "kind: TaskRun")), &run))
	if task.Kind != "Task" || run.Spec.TaskRef.Name != task.Metadata.Name || len(task.Spec.Steps) != 1 {
		t.Fatalf("the Task is %+v, the TaskRun %+v", task, run)
	}
	result := filepath.Join(t.TempDir(), "verdict")
	values := map[string]string{"workspaces.source.path": p.folder, "results.verdict.path": result}
	for _, param := range task.Spec.Params {
		if param.Default != nil {
			values["params."+param.Name] = *param.Default
		}
	}
	for _, param := range run.Spec.Params {
		values["params."+param.Name] = param.Value
	}
	for name, value := range extra {
		values["params."+name] = value
	}
	step := task.Spec.Steps[0]
	env := map[string]string{}
	for _, v := range step.Env {
		env[v.Name] = v.Value
		for name, value := range values {
			env[v.Name] = strings.ReplaceAll(env[v.Name], "$("+name+")", value)
		}
		if strings.Contains(env[v.Name], "$(") {
			t.Fatalf("%s is not known of variable %s", env[v.Name], v.Name)
		}
	}
	if strings.Contains(strings.ReplaceAll(step.Script, "$((", ""), "$(params") {
		t.Errorf("the script has a parameter in it, which would run as code:\n%s", step.Script)
	}
	script, err := os.CreateTemp(t.TempDir(), "")
	must.Succeed(t, err)
	_, err = script.WriteString(step.Script)
	must.Succeed(t, err)
	must.Succeed(t, script.Close())
	must.Succeed(t, os.Chmod(script.Name(), 0o700))
	code, output = p.shell(t, p.folder, "exec "+script.Name(), env)
	said := must.ReadFile(t, result)
	return code, output, string(said)
}

func TestTekton(t *testing.T) {
	p := newProject(t)
	verdict := ""
	run := func(extra map[string]string) func() (int, string) {
		return func() (code int, output string) {
			code, output, verdict = p.tekton(t, extra)
			if want := string(p.result(t).Status.Verdict); verdict != want {
				t.Errorf("the result is %q, want %q", verdict, want)
			}
			return code, output
		}
	}
	gate := map[string]string{"fail-on": "Regression"}
	if !p.ends(t, first, run(gate)) {
		return
	}
	p.write(t, "loadtest-baseline.json", p.read("loadtest/result.json"))
	p.ends(t, outcome{"Passed", 0, "✅ No regression"}, run(gate))
	p.broken.Store(true)
	p.ends(t, outcome{"Failed", 1, "| step | metric | baseline | this run | difference |"}, run(nil))
	p.write(t, "loadtest.yaml", replaced(t, p.read("loadtest.yaml"), relative, ""))
	p.ends(t, outcome{"Passed", 1, "❌ Regression"}, run(gate))

	p.write(t, "loadtest.yaml", "kind: LoadTest")
	code, output, verdict := p.tekton(t, nil)
	if code != 4 || verdict != "Error" || p.read("loadtest/comment.md") != "" {
		t.Errorf("of a file that is no LoadTest: exit code %d, result %q, %s", code, verdict, output)
	}
}
