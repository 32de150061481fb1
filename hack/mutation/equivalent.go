package main

import (
	"fmt"
	"os"
	"strings"
)

// equivalent is a mutant that does what the original does, or something that is as good.
type equivalent struct {
	file, text, change, reason string
	found                      bool
}

func (e *equivalent) matches(m mutant) bool {
	return e.file == m.file && e.text == m.text && e.change == m.change
}

// equivalents reads the list of a file: for each mutant its file, line and change as -lived prints
// them, and the reason in a line below it.
func equivalents(file string) (all []*equivalent, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for n, line := range strings.Split(string(raw), "\n") {
		fields := strings.Split(line, " | ")
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		case line[0] == '\t' && len(all) > 0:
			for i := len(all) - 1; i >= 0 && all[i].reason == ""; i-- {
				all[i].reason = strings.TrimSpace(line)
			}
		case len(fields) == 3:
			all = append(all, &equivalent{file: fields[0], change: fields[1], text: fields[2]})
		default:
			return nil, fmt.Errorf("%s:%d: want file | change | line, or a reason after a tab", file, n+1)
		}
	}
	for _, e := range all {
		if e.reason == "" {
			return nil, fmt.Errorf("%s: there is no reason for %s | %s | %s", file, e.file, e.change, e.text)
		}
	}
	return all, nil
}
