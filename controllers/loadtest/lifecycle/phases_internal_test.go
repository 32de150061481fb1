package lifecycle

import (
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// The screen of doc.go is what a reader believes of the order.
func TestDocumentNamesThePhasesInTheirOrder(t *testing.T) {
	file, err := os.ReadFile("doc.go")
	must.Succeed(t, err)
	told, stage := map[string][]string{}, ""
	for line := range strings.Lines(string(file)) {
		words := strings.Fields(strings.TrimPrefix(line, "//\t"))
		switch {
		case !strings.HasPrefix(line, "//\t"), strings.ContainsAny(line, "─│"):
			stage = ""
			continue
		case !strings.HasPrefix(line, "//\t "):
			stage, words = words[0], words[1:]
		}
		if stage != "" {
			told[stage] = append(told[stage], words...)
		}
	}
	same.As(t, "phases in doc.go", map[string][]string{
		"accepting": names(acceptingPhases), "starting": names(startingPhases), "running": names(runningPhases), "sideBySide": names(sideBySidePhases),
		"loading": names(loadPhases), "finished": names(finishedPhases), "closing": names(closingPhases),
	}, told)
}

// names are the names of the methods in a list.
func names[S any](phases []phase[S]) []string {
	var list []string
	for _, p := range phases {
		name := runtime.FuncForPC(reflect.ValueOf(p).Pointer()).Name()
		list = append(list, name[strings.LastIndex(name, ".")+1:])
	}
	return list
}

// A phase that says no is the last one.
func TestPhasesStopAtTheFirstThatSaysNo(t *testing.T) {
	var done []string
	says := func(name string, goesOn bool) phase[*pass] {
		return func(*pass) bool {
			done = append(done, name)
			return goesOn
		}
	}
	inOrder(&pass{}, []phase[*pass]{says("first", true), says("second", false), says("third", true)})
	if want := []string{"first", "second"}; !slices.Equal(done, want) {
		t.Errorf("carried out: %v, want %v", done, want)
	}
}
