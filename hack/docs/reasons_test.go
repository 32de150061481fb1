package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/hack/docs/page"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// troubleshooting is the page that has an entry for each reason.
func troubleshooting(t *testing.T) (string, page.Page) {
	t.Helper()
	text := must.ReadFile(t, filepath.Join(root, "docs", "troubleshooting.md"))
	return string(text), page.Parse(text)
}

// TestEveryReasonHasAnEntry compares the headings of docs/troubleshooting.md with the
// constants of the API.
func TestEveryReasonHasAnEntry(t *testing.T) {
	text, p := troubleshooting(t)
	var entries []string
	for _, h := range p.Headings {
		if h.Level == 3 {
			entries = append(entries, h.Text)
		}
	}
	reasons := constants(t, "Reason")
	slices.Sort(entries)
	if diff := cmp.Diff(reasons, entries); diff != "" {
		t.Errorf("docs/troubleshooting.md has a heading \"### Reason\" for each constant Reason… of api/v1beta1, with the message, why, and what to do (-constants +page):\n%s", diff)
	}
	for _, c := range constants(t, "Condition") {
		if !strings.Contains(text, "`"+c+"`") {
			t.Errorf("docs/troubleshooting.md does not mention condition %s", c)
		}
	}
}

// TestEveryEntryHasAMessageAndAWayOut looks below each heading: a quoted message, and what
// it means or what to do.
func TestEveryEntryHasAMessageAndAWayOut(t *testing.T) {
	text, _ := troubleshooting(t)
	for _, entry := range strings.Split(text, "\n### ")[1:] {
		entry, _, _ = strings.Cut(entry, "\n## ")
		quoted, advice := false, false
		for _, line := range strings.Split(entry, "\n")[1:] {
			quoted = quoted || strings.HasPrefix(line, "> ")
			advice = advice || line != "" && !strings.HasPrefix(line, ">")
		}
		if !quoted || !advice {
			t.Errorf("give this entry a quoted message and advice: %s", entry)
		}
	}
}

// constants are the values of the string constants of the API whose names begin so.
func constants(t *testing.T, prefix string) []string {
	t.Helper()
	values := map[string]bool{}
	for _, file := range sources(t, "api/v1beta1") {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(spec.Names[0].Name, prefix) || len(spec.Values) != 1 {
				return true
			}
			if value, ok := literal(spec.Values[0]); ok {
				values[value] = true
			}
			return true
		})
	}
	if len(values) < 10 {
		t.Fatalf("there are %d constants %s… only", len(values), prefix)
	}
	list := make([]string, 0, len(values))
	for v := range values {
		list = append(list, v)
	}
	slices.Sort(list)
	return list
}

// sources are the Go files of a folder and of those below, without tests.
func sources(t *testing.T, folder string) []*ast.File {
	t.Helper()
	var files []*ast.File
	err := filepath.WalkDir(filepath.Join(root, folder), func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		files = append(files, file)
		return err
	})
	must.Succeed(t, err)
	return files
}

// literal is the text of a string, or of strings that are added up.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		left, ok := literal(e.X)
		right, ok2 := literal(e.Y)
		return left + right, ok && ok2
	}
	return "", false
}

// TestMessagesAreReal finds each message that a page quotes in a story of the lifecycle
// or in a report that tests compare, or else a sentence of it in the code that writes it.
func TestMessagesAreReal(t *testing.T) {
	golden, formats := recorded(t), sentences(t)
	for name, text := range currentTexts(t) {
		quoted := quotations(text)
		for _, message := range quoted {
			if !isReal(message, golden, formats) {
				t.Errorf("%s: no story and no code says this: %s", name, message)
			}
		}
		if name == "docs/troubleshooting.md" && len(quoted) < 50 {
			t.Errorf("%d messages are quoted only", len(quoted))
		}
	}
	if isReal("The operator is out for lunch; come back in 3 hours.", golden, formats) {
		t.Error("a message that is invented is taken for a real one")
	}
}

// quotations are the lines of a page that are quoted, which are messages.
func quotations(text string) (list []string) {
	for line := range strings.Lines(text) {
		if message, ok := strings.CutPrefix(strings.TrimSpace(line), "> "); ok {
			list = append(list, message)
		}
	}
	return list
}

func isReal(message, golden string, formats []*regexp.Regexp) bool {
	return strings.Contains(golden, message) ||
		slices.ContainsFunc(formats, func(f *regexp.Regexp) bool { return f.MatchString(message) })
}

// recorded are the golden texts of the lifecycle and of the report.
func recorded(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"controllers/loadtest/lifecycle/testdata/stories/*.txt", "cmd/kubectl-loadtest/report/testdata/*.txt"} {
		names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range names {
			text := must.ReadFile(t, name)
			all.Write(text)
		}
	}
	return all.String()
}

var verb = regexp.MustCompile(`%(?:%|[-+#]?[0-9.]*[a-z])`)

// sentences are the strings of the operator that are long enough to be sentences, each as
// an expression in which anything may stand for a verb.
func sentences(t *testing.T) []*regexp.Regexp {
	t.Helper()
	const long = 20 // characters that are no verbs
	var list []*regexp.Regexp
	for _, file := range sources(t, "controllers") {
		ast.Inspect(file, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			s, ok := literal(e)
			if !ok || len(verb.ReplaceAllString(s, "")) < long {
				return true
			}
			parts := verb.Split(s, -1)
			for i := range parts {
				parts[i] = regexp.QuoteMeta(parts[i])
			}
			list = append(list, regexp.MustCompile(strings.Join(parts, ".+")))
			return false
		})
	}
	return list
}

// TestOutcomesAndExitCodesHaveARow reads the two tables at the end of the page.
func TestOutcomesAndExitCodesHaveARow(t *testing.T) {
	text, _ := troubleshooting(t)
	var want []string
	for o := range measure.Outcome(measure.NumOutcomes) {
		want = append(want, "`"+o.String()+"`")
	}
	same.As(t, "outcomes", want, firstCells(rowsBelow(t, text, "## Outcomes of requests\n")))
	source := must.ReadFile(t, filepath.Join(root, "cmd", "kubectl-loadtest", "exitcode", "exitcode.go"))
	var codes []string
	for _, m := range regexp.MustCompile(`\t[A-Z]\w+ += (\d+)`).FindAllStringSubmatch(string(source), -1) {
		codes = append(codes, m[1])
	}
	same.As(t, "exit codes", codes, firstCells(rowsBelow(t, text, "## Exit codes\n")))
}

func firstCells(rows []string) []string {
	var cells []string
	for _, row := range rows {
		cells = append(cells, strings.TrimSpace(strings.Split(row, "|")[1]))
	}
	return cells
}
