package docs

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/serve"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// recordedSections are the sections of pages whose figures are those of records, by page and
// heading.
var recordedSections = []struct {
	page, heading string
	records       []string
}{
	{"vegeta.md", "What drives", []string{"results/bench-worker.md", "results/bench-accuracy.md", "design/0002-worker-client.md", "design/0003-users-engine.md"}},
	{"sizing.md", "What a request costs", []string{"results/bench-worker.md", "results/bench-scale.md", "results/other-targets.md"}},
	{"sizing.md", "The operator", []string{"results/bench-operator.md", "results/bench-merge.md"}},
	{"search.md", "How good it is", []string{"results/bench-search.md"}},
}

// TestFiguresAreRecorded compares the figures of pages with the records that they are from: a
// benchmark that was recorded again has others. The figures of a row of a table stand in one line
// of a record; those of the text anywhere in it.
func TestFiguresAreRecorded(t *testing.T) {
	for _, s := range recordedSections {
		var records strings.Builder
		for _, name := range s.records {
			records.WriteString(read(t, name))
		}
		text := section(t, read(t, s.page), s.heading)
		found, quoted := figures(text), quotation.FindAllStringSubmatch(text, -1)
		for _, q := range quoted {
			if !strings.Contains(records.String(), q[1]) {
				t.Errorf("docs/%s, %s: no line of %v says %s", s.page, s.heading, s.records, q[1])
			}
		}
		for _, f := range found {
			if !slices.Contains(numbers(records.String()), f) {
				t.Errorf("docs/%s, %s: %s is in none of %v: write what they have now", s.page, s.heading, f, s.records)
			}
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "|") && !hasLine(records.String(), figures(line)) {
				t.Errorf("docs/%s, %s: no line of %v has all figures of the row: %s", s.page, s.heading, s.records, line)
			}
		}
		if len(found)+len(quoted) == 0 {
			t.Errorf("docs/%s, %s: there are no figures", s.page, s.heading)
		}
	}
}

// TestConstantsOfPages compares what pages say of a default and of the systems for trying with the code.
func TestConstantsOfPages(t *testing.T) {
	source := must.ReadFile(t, filepath.Join(root, "controllers", "loadtest", "plan", "assignment.go"))
	m := regexp.MustCompile(`const perWorker = (\d+)(\d{3})\n`).FindSubmatch(source)
	if m == nil {
		t.Fatal("controllers/loadtest/plan does not say how many users a worker is given")
	}
	for _, page := range []string{"local.md", "sizing.md", "../README.md"} {
		if want := string(m[1]) + "," + string(m[2]) + " users"; !strings.Contains(read(t, page), want) {
			t.Errorf("docs/%s does not say that a worker is given %s", page, want)
		}
	}
	for _, name := range serve.Names() {
		if !strings.Contains(section(t, read(t, "local.md"), "Systems for trying"), "`"+name+"`") {
			t.Errorf("docs/local.md does not name the system %s for trying", name)
		}
	}
}

// read is a page of docs.
func read(t *testing.T, name string) string {
	t.Helper()
	text := must.ReadFile(t, filepath.Join(root, "docs", filepath.FromSlash(name)))
	return string(text)
}

// section is what stands below a heading of the second level, up to the next one.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, below, ok := strings.Cut(text, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("there is no heading %q", heading)
	}
	below, _, _ = strings.Cut(below, "\n## ")
	return below
}

var (
	// aside is what has numbers that are no figures: code and destinations of links.
	aside  = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)|\\[\\d+\\]")
	number = regexp.MustCompile(`\d+(?:,\d{3})*(?:\.\d+)?`)
	// quotation is a part of the last line of a benchmark.
	quotation = regexp.MustCompile("`([\\w-]+=[\\w./%-]+(?: [\\w-]+=[\\w./%-]+)*)`")
	// figure is a number with a unit of what is measured, with a fraction, or of three digits or more; it
	// is no part of a name, such as HTTP/1.1 or p99.
	figure = regexp.MustCompile(`(?:^|[^\w/.,-])(\d+(?:,\d{3})*(?:\.\d+)?)((?: (?:us|ms|KB|MB|times)\b| ?%)?)`)
)

// figures are the figures of a text, without separators of thousands.
func figures(text string) (list []string) {
	for _, m := range figure.FindAllStringSubmatch(aside.ReplaceAllString(text, " "), -1) {
		n := strings.ReplaceAll(m[1], ",", "")
		if len(n) >= 3 || m[2] != "" {
			list = append(list, n)
		}
	}
	return list
}

// hasLine says whether a line of a text has all of some figures.
func hasLine(text string, figures []string) bool {
	for line := range strings.Lines(text) {
		all := numbers(line)
		if !slices.ContainsFunc(figures, func(f string) bool { return !slices.Contains(all, f) }) {
			return true
		}
	}
	return false
}

// numbers are all numbers of a text, without separators of thousands.
func numbers(text string) []string {
	list := number.FindAllString(text, -1)
	for i := range list {
		list[i] = strings.ReplaceAll(list[i], ",", "")
	}
	return list
}

func TestFiguresAreFound(t *testing.T) {
	const text = "Over HTTP/1.1, p99 is 7 ms and [12](a-33.md) of 10,000 take `444 ms`; 2.5 times, 64 users for 2 s, 99 %, record [0002](x.md)."
	same.As(t, "figures", []string{"7", "10000", "2.5", "99"}, figures(text))
	same.As(t, "a row of two lines", false, hasLine("| a | 1.5 |\n| b | 2.5 |\n", []string{"1.5", "2.5"}))
	same.As(t, "numbers", []string{"1.1", "99", "7"}, numbers("HTTP/1.1, p99 is 7 ms"))
}
