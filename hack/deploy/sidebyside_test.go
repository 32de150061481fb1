package deploy

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// TestSideBySideKeepsLinesWhole writes lines in parts, the last of them without its end.
func TestSideBySideKeepsLinesWhole(t *testing.T) {
	const n = 100
	var out bytes.Buffer
	err := Tools{Out: &out, Err: &out}.SideBySide([]string{"a", "b"}, func(tools Tools, name string) error {
		for range n {
			for _, part := range []string{name, name + "\n" + name, name} {
				fmt.Fprint(tools.Out, part)
			}
			fmt.Fprintln(tools.Err, "error of", name)
			fmt.Fprintln(tools.Out)
		}
		fmt.Fprint(tools.Out, "end of ", name)
		return errors.New(name + " failed")
	})
	same.As(t, "error", "a failed\nb failed", err.Error())
	got := map[string]int{}
	for line := range strings.Lines(out.String()) {
		got[line]++
	}
	same.As(t, "lines", map[string]int{
		"aa\n": 2 * n, "error of a\n": n, "end of a\n": 1,
		"bb\n": 2 * n, "error of b\n": n, "end of b\n": 1,
	}, got)
}
