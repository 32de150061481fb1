package source_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
)

func TestNamesOfATemplate(t *testing.T) {
	names, sample, err := source.Names("$$${b}/${a}/${seq}/${b}/${rand:2-3}/${uuid}")
	if err != nil || !slices.Equal(names, []string{"b", "a"}) || sample != "$1/1/1/1/1/00000000-0000-4000-8000-000000000000" {
		t.Errorf("names %q, sample %q, error %v", names, sample, err)
	}
	for _, wrong := range []string{"$", "$x", "${a", "${}", "${a b}", "${rand:3-2}"} {
		if names, _, err := source.Names(wrong); err == nil {
			t.Errorf("%q has the names %q, want an error", wrong, names)
		}
	}
}

// A body of the largest size has thousands of names.
func TestNamesOfALargeTemplate(t *testing.T) {
	var b strings.Builder
	for i := range 6000 {
		b.WriteString("${n" + strings.Repeat("x", i%5) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)) + "}")
	}
	if names, _, err := source.Names(b.String()); err != nil || len(names) != 6000 {
		t.Errorf("%d names, error %v", len(names), err)
	}
}
