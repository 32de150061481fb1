package source_test

import (
	"slices"
	"strconv"
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

// A body of the largest size has thousands of names, each of which is compiled once.
func TestNamesOfALargeTemplate(t *testing.T) {
	const count = 6000
	var b strings.Builder
	for i := range count {
		b.WriteString("${n" + strconv.Itoa(i) + "}")
	}
	var names []string
	allocated := testing.AllocsPerRun(1, func() { names, _, _ = source.Names(b.String()) })
	if len(names) != count || allocated > 10*count {
		t.Errorf("%d names with %.0f allocations, want %d with at most %d", len(names), allocated, count, 10*count)
	}
}
