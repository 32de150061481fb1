package console

import (
	"regexp"
	"slices"
	"strings"
)

// Command is a command line, and the lines that it prints. A line "…" stands for any
// number of lines; what comes before the first line and after the last is not shown.
type Command struct {
	Line string
	Want []string
}

// gap is the line that stands for any others.
const gap = "…"

// Parse reads a block. A command goes on in the next line after a backslash.
func Parse(block string) []Command {
	var commands []Command
	goesOn := false
	for line := range strings.Lines(block) {
		line = strings.TrimSuffix(line, "\n")
		last := len(commands) - 1
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case goesOn:
			commands[last].Line += "\n" + line
		case isCommand:
			commands = append(commands, Command{Line: command})
		case last >= 0:
			commands[last].Want = append(commands[last].Want, line)
		}
		goesOn = (goesOn || isCommand) && strings.HasSuffix(line, `\`)
	}
	return commands
}

// Missing is the first group of lines that the output does not have, in the order of the
// page and with figures masked; empty: it has them all.
func (c Command) Missing(output string) string {
	have := masked(strings.Split(output, "\n"))
	for _, group := range groups(c.Want) {
		want := masked(group)
		at := index(have, want)
		if at < 0 {
			return strings.Join(group, "\n")
		}
		have = have[at+len(want):]
	}
	return ""
}

// groups are the lines between gaps.
func groups(lines []string) [][]string {
	var list [][]string
	begin := 0
	for i := range len(lines) + 1 {
		if i == len(lines) || strings.TrimSpace(lines[i]) == gap {
			if i > begin {
				list = append(list, lines[begin:i])
			}
			begin = i + 1
		}
	}
	return list
}

func index(have, want []string) int {
	for i := range len(have) - len(want) + 1 {
		if slices.Equal(have[i:i+len(want)], want) {
			return i
		}
	}
	return -1
}

// figure is a number with its unit, an instant, or the suffix of a generated name.
var figure = regexp.MustCompile(`-[0-9a-f]{10}\b|[-+]?[0-9]+(?:[.:][0-9]+)*(?:[a-zµ]{1,2}\b|%)?(?:[a-z][0-9]+[a-z]\b)*`)

// masked are lines without figures and without the width of columns.
func masked(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.Join(strings.Fields(figure.ReplaceAllString(line, "#")), " ")
	}
	return out
}
