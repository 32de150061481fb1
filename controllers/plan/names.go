package plan

import "fmt"

// names are the names that are taken.
type names map[string]bool

// unique takes the name, or the first of "name (2)", "name (3)", … that is free:
// thresholds and reports name a step by it. A name that grows too long is cut.
func (n names) unique(name string) string {
	candidate := name
	for i := 2; n[candidate]; i++ {
		candidate = numbered(name, i)
	}
	n[candidate] = true
	return candidate
}

func numbered(name string, i int) string {
	number := fmt.Sprintf(" (%d)", i)
	runes := []rune(name)
	return string(runes[:min(len(runes), maxName-len(number))]) + number
}
