package archtest

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// repository is the root of it, as a test runs in its package's folder.
const repository = "../.."

func TestImportsKeepTheRules(t *testing.T) {
	g, err := load(repository)
	must.Succeed(t, err)
	for _, r := range rules {
		t.Run(r.because, func(t *testing.T) {
			for _, pattern := range r.idle(g) {
				t.Errorf("no package is %s: correct the rule's paths in rules.go", pattern)
			}
			for _, v := range r.violations(g) {
				t.Errorf("%s, but %s", v, r.because)
			}
		})
	}
	for _, v := range targetViolations(g, isStandard) {
		t.Error(v)
	}
}

func TestEveryPackageIsDocumented(t *testing.T) {
	found, err := undocumented(os.DirFS(repository))
	must.Succeed(t, err)
	for _, f := range found {
		t.Error(f)
	}
}

// The rules above hold, so that they say nothing; that they would say something
// is shown on trees that break them.

func TestForbiddenImportsAreFound(t *testing.T) {
	g := graph{
		"controllers/loadtest/plan": {"time", "api/v1beta1", "controllers/units"},
		"controllers/units":         {"k8s.io/client-go/rest"},
		"controllers/loadtest":      {"k8s.io/client-go/rest", "measure"},
		"api/v1beta1":               {"k8s.io/apimachinery/pkg/runtime"},
		// What a forbidden package imports is not told again.
		"k8s.io/client-go/rest":           {"k8s.io/client-go/transport"},
		"k8s.io/apimachinery/pkg/runtime": nil,
		"measure":                         nil,
	}
	base := rule{of: []string{"controllers/..."}, except: []string{"controllers/loadtest"}, forbid: []string{"k8s.io/client-go/..."}}
	tests := map[string]struct {
		change func(*rule)
		want   []string
	}{
		"direct": {
			change: func(r *rule) { r.reach = direct },
			want:   []string{"controllers/units imports k8s.io/client-go/rest"},
		},
		"transitive, with the way": {
			change: func(r *rule) { r.reach = transitive },
			want: []string{
				"controllers/loadtest/plan depends on k8s.io/client-go/rest (controllers/loadtest/plan → controllers/units → k8s.io/client-go/rest)",
				"controllers/units depends on k8s.io/client-go/rest",
			},
		},
		"allowed": {
			change: func(r *rule) { r.reach, r.allow = transitive, []string{"k8s.io/client-go/..."} },
		},
		"another import": {
			change: func(r *rule) { r.reach, r.forbid = transitive, []string{"k8s.io/client-go"} },
		},
		"a package that is excepted": {
			change: func(r *rule) {
				r.reach, r.of, r.forbid = direct, []string{"controllers/loadtest"}, []string{"loadworker/..."}
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := base
			tt.change(&r)
			same.As(t, "violations", tt.want, r.violations(g))
		})
	}
}

func TestRulesThatMatchNothingAreFound(t *testing.T) {
	r := rule{of: []string{"api/...", "controllers/..."}, except: []string{"controllers/loadtest/plan", "controllers/old"}}
	got := r.idle(graph{"controllers/loadtest/plan": nil, "controllers": nil, "apis/v1": nil})
	same.As(t, "idle", []string{"api/...", "controllers/old"}, got)
}

func TestForbiddenImportsOfTargetsAreFound(t *testing.T) {
	tests := map[string]struct {
		importer string
		imported string
		want     []string
	}{
		"domain, standard library":   {importer: "targets/limiter", imported: "net/http"},
		"domain, driver":             {importer: "targets/limiter", imported: "github.com/redis/go-redis/v9", want: []string{"targets/limiter imports github.com/redis/go-redis/v9: a domain uses the standard library only"}},
		"domain, its technology":     {importer: "targets/limiter", imported: "targets/limiter/redis", want: []string{"targets/limiter imports targets/limiter/redis: a domain uses the standard library only"}},
		"technology, domain":         {importer: "targets/limiter/redis", imported: "targets/limiter"},
		"technology, driver":         {importer: "targets/limiter/redis", imported: "github.com/redis/go-redis/v9"},
		"technology, sibling":        {importer: "targets/limiter/redis", imported: "targets/limiter/http", want: []string{"targets/limiter/redis imports targets/limiter/http: only a target's cmd may see several of its technologies"}},
		"technology, below it":       {importer: "targets/limiter/redis", imported: "targets/limiter/redis/script"},
		"cmd, technology":            {importer: "targets/limiter/cmd/limiter", imported: "targets/limiter/redis"},
		"cmd, another target":        {importer: "targets/limiter/cmd/limiter", imported: "targets/store", want: []string{"targets/limiter/cmd/limiter imports targets/store: a target imports nothing but its own packages and targets/internal"}},
		"a name that begins alike":   {importer: "targets/limiter/redis", imported: "targets/limiter2", want: []string{"targets/limiter/redis imports targets/limiter2: a target imports nothing but its own packages and targets/internal"}},
		"technology, shared":         {importer: "targets/limiter/redis", imported: "targets/internal/reply"},
		"domain, shared":             {importer: "targets/limiter", imported: "targets/internal/reply", want: []string{"targets/limiter imports targets/internal/reply: a domain uses the standard library only"}},
		"shared among tests, driver": {importer: "targets/internal/redistest", imported: "github.com/redis/go-redis/v9"},
		"no target":                  {importer: "controllers/loadtest/plan", imported: "measure"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := targetViolations(graph{tt.importer: {tt.imported}}, isStandard)
			same.As(t, "violations", tt.want, got)
		})
	}
}

func TestPackagesAreReadAsGoListsThem(t *testing.T) {
	out := `{"ImportPath": "fmt", "Standard": true, "Imports": ["io"]}
{"ImportPath": "k8s.io/api", "Imports": ["fmt"]}
{"ImportPath": "` + ours + `/api", "Imports": ["k8s.io/api", "` + ours + `/plan"]}`
	got, err := decode(strings.NewReader(out))
	must.Succeed(t, err)
	want := graph{"fmt": nil, "k8s.io/api": {"fmt"}, "api": {"k8s.io/api", "plan"}}
	same.As(t, "graph", want, got)
	if _, err := decode(strings.NewReader(out + "{")); err == nil {
		t.Error("output that is cut off was accepted")
	}
}

func TestUndocumentedPackagesAreFound(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	got, err := undocumented(fstest.MapFS{
		"doc.go":                  file("// Command operator runs.\npackage main\n"),
		"good/doc.go":             file("// Package good is good.\npackage good\n"),
		"good/testdata/x/x.go":    file("package x\n"),
		"missing/missing.go":      file("package missing\n"),
		"empty/doc.go":            file("// The package empty.\npackage empty\n"),
		"onlytest/only_test.go":   file("package onlytest\n"),
		"nogo/README.md":          file("text"),
		"bin/cache/generated.go":  file("package cache\n"),
		".hidden/generated.go":    file("package hidden\n"),
		"good/bin/bin.go":         file("package bin\n"),
		"good/.cache/generate.go": file("package cache\n"),
	})
	must.Succeed(t, err)
	want := []string{
		"empty/doc.go has no comment that begins with Package or Command",
		"good/bin has no doc.go",
		"missing has no doc.go",
		"onlytest has no doc.go",
	}
	same.As(t, "undocumented", want, got)
}
