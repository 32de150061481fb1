package docs

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/docs/page"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var (
	// pseudo is a version of a module that has no release, and a release of Prometheus 3 as a module.
	pseudo     = regexp.MustCompile(`^0\.0\.0-(\d{4})(\d\d)(\d\d)\d{6}-`)
	prometheus = regexp.MustCompile(`^0\.3(\d\d)\.(\d+)$`)
	code       = regexp.MustCompile("`([^`]+)`")
)

// TestVersionsAreThePinned compares the versions of docs/versions.md with the files that pin them,
// go.mod or requirements.txt, and what other pages say of the same programs with docs/versions.md.
func TestVersionsAreThePinned(t *testing.T) {
	text := must.ReadFile(t, filepath.Join(root, "docs", "versions.md"))
	rows := rowsBelow(t, string(text), "# Versions\n")
	if len(rows) < 10 {
		t.Fatalf("there are %d rows only", len(rows))
	}
	pages := currentTexts(t)
	for _, row := range rows {
		cells := strings.Split(row, "|")
		name, version := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		module, links := code.FindStringSubmatch(cells[3]), page.Parse([]byte(row)).Links
		if len(module) == 0 || len(links) == 0 {
			t.Errorf("name the module and link to the file that pins it: %s", row)
			continue
		}
		file := must.ReadFile(t, filepath.Join(root, "docs", filepath.FromSlash(links[0].Destination)))
		same.As(t, name, pinned(string(file), module[1]), version)
		for page, text := range pages {
			for _, other := range otherVersions(text, name, version) {
				t.Errorf("%s says %s, which is not what docs/versions.md has: %s", page, other, version)
			}
		}
	}
	chart := must.ReadFile(t, filepath.Join(root, "charts", "loadtest-operator", "Chart.yaml"))
	oldest := regexp.MustCompile(`kubeVersion: ">=(\d+\.\d+)\.0-0"`).FindSubmatch(chart)
	if len(oldest) == 0 || !strings.Contains(string(text), "the chart installs on "+string(oldest[1])+" or later") {
		t.Errorf("docs/versions.md does not say the oldest Kubernetes that the chart accepts: %s", oldest)
	}
}

// pinned is the version of a module in a go.mod file, or of a package in a requirements.txt, as people write it; empty: it is not there.
func pinned(file, module string) string {
	m := regexp.MustCompile(`(?m)^\s*(?:require )?` + regexp.QuoteMeta(module) + `(?: v|==)(\S+)`).FindStringSubmatch(file)
	if m == nil {
		return ""
	}
	if d := pseudo.FindStringSubmatch(m[1]); d != nil {
		return strings.Join(d[1:], "-")
	}
	if p := prometheus.FindStringSubmatch(m[1]); p != nil && module == "github.com/prometheus/prometheus" {
		return "3." + strings.TrimPrefix(p[1], "0") + "." + p[2]
	}
	return m[1]
}

// otherVersions are where a text names a program with another version than this one.
func otherVersions(text, name, version string) (list []string) {
	for _, m := range regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+` v?(\d+\.\d+\.\d+)\b`).FindAllStringSubmatch(text, -1) {
		if m[1] != version {
			list = append(list, m[0])
		}
	}
	return list
}

// currentTexts are the pages that are kept up to date: neither records of decisions and of
// measurements, nor a changelog.
func currentTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for name := range markdown(t) {
		folder := path.Dir(name)
		if folder == "docs/design" || folder == "docs/results" || name == "CHANGELOG.md" {
			continue
		}
		text := must.ReadFile(t, filepath.Join(root, filepath.FromSlash(name)))
		texts[name] = string(text)
	}
	return texts
}

func TestPinsAreReadAsPeopleWriteThem(t *testing.T) {
	const file = "require (\n\tgithub.com/prometheus/prometheus v0.305.1 // indirect\n\tgithub.com/prometheus/common v0.305.0\n" +
		"\tgithub.com/minio/minio v0.0.0-20260212201848-7aac2a2c5b7c\n)\n\nrequire a.b/c/v3 v3.2.1 // indirect\n\nlocust==2.4.7\n"
	for module, want := range map[string]string{
		"github.com/prometheus/prometheus": "3.5.1", "github.com/prometheus/common": "0.305.0", "github.com/minio/minio": "2026-02-12",
		"a.b/c/v3": "3.2.1", "a.b/c": "", "locust": "2.4.7",
	} {
		same.As(t, module, want, pinned(file, module))
	}
	same.As(t, "other versions", []string{"Argo CD 3.1.0"}, otherVersions("Argo CD 3.2.1, not Argo CD 3.1.0.", "Argo CD", "3.2.1"))
}
