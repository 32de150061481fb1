package document

import (
	"bytes"
	"fmt"
	"regexp"
)

// plainQuery is a field within braces whose text has a question mark and no quotes, such as
// {path: /orders?limit=20}: the parser takes it for the key of another field.
var plainQuery = regexp.MustCompile(`[{,]\s*([A-Za-z]+):\s+([^"'{}\[\],\s][^{}\[\],\s]*\?[^{}\[\],\s]*)`)

// withRemedy adds to an error of the YAML parser how the text is written that it does not read. The
// parser names the line before it, or an earlier one.
func withRemedy(err error, text []byte) error {
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if found := plainQuery.FindSubmatch(line); found != nil && err != nil {
			return fmt.Errorf("line %d: %s needs quotes within { }, for its question mark; write %s: %q (%w)", number, found[2], found[1], found[2], err)
		}
	}
	return err
}
