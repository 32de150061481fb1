package krew

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/template"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// plugin is the schema of krew's manifests, krew.googlecontainertools.github.com/v1alpha2.
type plugin struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string     `json:"version"`
		Homepage         string     `json:"homepage"`
		ShortDescription string     `json:"shortDescription"`
		Description      string     `json:"description"`
		Caveats          string     `json:"caveats"`
		Platforms        []platform `json:"platforms"`
	} `json:"spec"`
}

type platform struct {
	URI      string `json:"uri"`
	Sha256   string `json:"sha256"`
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	Files []struct {
		From string `json:"from"`
		To   string `json:"to"`
	} `json:"files"`
	Bin string `json:"bin"`
}

// release fills the template in as a release does.
func release(t *testing.T, tag string) plugin {
	t.Helper()
	source := must.ReadFile(t, "loadtest.yaml")
	values := map[string]string{"TagName": tag}
	render := func(text string, functions template.FuncMap) string {
		parsed, err := template.New("").Funcs(functions).Parse(text)
		must.Succeed(t, err)
		var out bytes.Buffer
		must.Succeed(t, parsed.Execute(&out, values))
		return out.String()
	}
	filled := render(string(source), template.FuncMap{
		"addURIAndSha": func(uri, _ string) string {
			return fmt.Sprintf("uri: %s\nsha256: %x", render(uri, nil), sha256.Sum256([]byte(uri)))
		},
		"indent": func(n int, text string) string {
			margin := strings.Repeat(" ", n)
			return margin + strings.ReplaceAll(text, "\n", "\n"+margin)
		},
	})
	var p plugin
	if err := yaml.UnmarshalStrict([]byte(filled), &p); err != nil {
		t.Fatalf("%v:\n%s", err, filled)
	}
	return p
}

// TestManifestNamesEveryArchive checks what krew checks when a plugin is installed.
func TestManifestNamesEveryArchive(t *testing.T) {
	p := release(t, "v1.2.3")
	if p.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || p.Kind != "Plugin" || p.Metadata.Name != "loadtest" || p.Spec.Version != "v1.2.3" {
		t.Errorf("%+v", p)
	}
	if short := p.Spec.ShortDescription; short == "" || len(short) > 50 || strings.Contains(short, "\n") {
		t.Errorf("the short description has %d characters in one line, want 1 to 50", len(short))
	}
	sum := regexp.MustCompile(`^[0-9a-f]{64}$`)
	seen := map[string]bool{}
	for _, platform := range p.Spec.Platforms {
		labels := platform.Selector.MatchLabels
		name := labels["os"] + "_" + labels["arch"]
		if seen[name] || len(labels) != 2 {
			t.Errorf("the platform of %v is there already, or is none", labels)
		}
		seen[name] = true
		want := "https://github.com/loadtest-dev/loadtest-operator/releases/download/v1.2.3/kubectl-loadtest_" + name + ".tar.gz"
		if platform.URI != want || !sum.MatchString(platform.Sha256) {
			t.Errorf("%s: %s, %s", name, platform.URI, platform.Sha256)
		}
		found := false
		for _, f := range platform.Files {
			found = found || f.From == platform.Bin && f.To == "."
		}
		if !found || platform.Bin == "" || filepath.IsAbs(platform.Bin) {
			t.Errorf("%s: the program %q is not among its files", name, platform.Bin)
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d platforms, want 4", len(seen))
	}
}

// kubectl completes a plugin by a program of its name, which hands the arguments on.
func TestCompletionProgramIsInTheArchive(t *testing.T) {
	folder := t.TempDir()
	stub := "#!/bin/sh\nfor a in \"$@\"; do echo \"<$a>\"; done\n"
	must.Succeed(t, os.WriteFile(filepath.Join(folder, "kubectl"), []byte(stub), 0o700))
	program, err := filepath.Abs("kubectl_complete-loadtest")
	must.Succeed(t, err)
	command := exec.CommandContext(t.Context(), program, "report", "a b", "")
	command.Env = []string{"PATH=" + folder + ":" + os.Getenv("PATH")}
	out, err := command.CombinedOutput()
	if err != nil || string(out) != "<loadtest>\n<__complete>\n<report>\n<a b>\n<>\n" {
		t.Errorf("%v: %s", err, out)
	}
}
