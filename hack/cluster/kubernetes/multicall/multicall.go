package multicall

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Mains are what a program can be, by name. A main returns an exit code.
type Mains map[string]func() int

// Choose takes the main by the name that the program was called under or, if
// that is none of them, by the first argument, which is then dropped. It
// returns the arguments that are left for the main, its name first.
func (m Mains) Choose(args []string) ([]string, func() int, error) {
	if len(args) > 0 {
		if run, ok := m[filepath.Base(args[0])]; ok {
			return args, run, nil
		}
	}
	if len(args) > 1 {
		if run, ok := m[args[1]]; ok {
			return args[1:], run, nil
		}
	}
	return nil, nil, fmt.Errorf("call this program under the name of a component, or name one as its first argument: %s",
		strings.Join(slices.Sorted(maps.Keys(m)), ", "))
}
