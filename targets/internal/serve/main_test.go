package serve

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
)

func TestExitCode(t *testing.T) {
	tests := map[string]struct {
		err  error
		code int
		out  string
	}{
		"done":    {nil, 0, ""},
		"help":    {fmt.Errorf("parse: %w", flag.ErrHelp), 0, ""},
		"mistake": {errors.New("no port"), 1, "shortener: no port\n(see shortener --help)\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if got := ExitCode("shortener", tt.err, &out); got != tt.code || out.String() != tt.out {
				t.Errorf("ExitCode() = %d, %q; want %d, %q", got, out.String(), tt.code, tt.out)
			}
		})
	}
}
