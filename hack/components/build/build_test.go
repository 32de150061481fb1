package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

// small is a module with three programs that compile in no time: each prints its name.
func small(t *testing.T) string {
	t.Helper()
	source := t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(source, name)
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Succeed(t, os.WriteFile(path, []byte(content), 0o644))
	}
	write("go.mod", "module example.com/kubernetes\n\ngo 1.26\n")
	program := "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(os.Args[0]) }\n"
	for _, folder := range []string{".", "coredns", "pause"} {
		write(filepath.Join(folder, "main.go"), program)
	}
	return source
}

func builder(source, cache string) Builder {
	return Builder{
		Name: "kubernetes", Source: source, Cache: cache, Packages: []string{".", "./coredns", "./pause"},
		Links: map[string]string{"etcd": "kubernetes", "kubelet": "kubernetes"},
	}
}

func TestBuildFillsAFolderOnce(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	var reports []Progress
	b := builder(small(t), cache)
	b.Progress = func(p Progress) { reports = append(reports, p) }
	folder, err := b.Build(t.Context())
	must.Succeed(t, err)
	for _, name := range []string{"kubernetes", "coredns", "pause", "etcd", "kubelet"} {
		path := filepath.Join(folder, name)
		if out, err := exec.Command(path).Output(); err != nil || string(out) != path {
			t.Errorf("%s prints %q, %v", path, out, err)
		}
	}
	if len(reports) == 0 || !reports[len(reports)-1].Ended {
		t.Errorf("the reports %+v do not say that the build has ended", reports)
	}
	if entries, err := os.ReadDir(cache); err != nil || len(entries) != 1 {
		t.Errorf("the cache has %v, %v, want the folder only", entries, err)
	}

	reports = nil
	again, err := b.Build(t.Context())
	if err != nil || again != folder {
		t.Errorf("a second build is in %q, %v, want %q", again, err, folder)
	}
	same.As(t, "a second build compiles", []Progress(nil), reports)
}

func TestBuildErrorHasTheCompilersOutput(t *testing.T) {
	source, cache := small(t), t.TempDir()
	must.Succeed(t, os.WriteFile(filepath.Join(source, "coredns", "main.go"), []byte("package main\n\nfunc main() { wrong() }\n"), 0o644))
	report := func(p Progress) {
		if p.Ended {
			t.Error("a build that failed reports its end")
		}
	}
	b := builder(source, cache)
	b.Progress = report
	_, err := b.Build(t.Context())
	for _, want := range []string{"example.com/kubernetes/coredns", "undefined: wrong"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want it to say %q", err, want)
		}
	}
	if entries, err := os.ReadDir(cache); err != nil || len(entries) > 0 {
		t.Errorf("a failed build has left %v, %v", entries, err)
	}
}

func TestMeterCountsLines(t *testing.T) {
	var last Progress
	m := newMeter(3, func(p Progress) { last = p })
	for _, text := range []string{"a/b\nc", "/d\n", "e\nf\n"} {
		if n, err := m.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("Write = %d, %v", n, err)
		}
	}
	if got := m.progress(false); got.Done != 3 || got.Total != 3 || got.Ended {
		t.Errorf("progress is %+v, want 3 of 3 although 4 were named", got)
	}
	m.stop(true)
	if !last.Ended {
		t.Errorf("the last report is %+v, want it to be known as such", last)
	}
}
