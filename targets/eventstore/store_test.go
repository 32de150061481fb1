package eventstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestMoveValidate(t *testing.T) {
	const names = "subscription has no proper name: use 1 to 200 letters, digits and any of . _ : -"
	tests := map[string]struct {
		move Move
		want string
	}{
		"usual":           {move: Move{ID: "billing.v2:eu_1-a"}},
		"long":            {move: Move{ID: strings.Repeat("x", 200), Position: 1 << 62}},
		"no name":         {Move{}, names},
		"too long":        {Move{ID: strings.Repeat("x", 201)}, names},
		"a slash":         {Move{ID: "a/b"}, names},
		"not of ASCII":    {Move{ID: "ä"}, names},
		"before the log":  {Move{ID: "a", Position: -1}, "position is -1: use 0 or more"},
		"a broken letter": {Move{ID: "a\xff"}, names},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := tc.move.Validate()
			var invalid InvalidError
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("Validate() = %v", err)
			case tc.want != "" && (!errors.As(err, &invalid) || err.Error() != tc.want):
				t.Errorf("Validate() = %v, want %s", err, tc.want)
			}
		})
	}
}

func TestErrorMessages(t *testing.T) {
	for want, err := range map[string]error{
		"log ends at position 7, not at 3: read on, decide again":                                  ConflictError{Expected: 3, Actual: 7},
		"subscription is at position 9, which is after 4: ask with allowBackwards=true to go back": BackwardsError{Current: 9, Asked: 4},
	} {
		same.As(t, "error", want, fmt.Sprint(err))
	}
}
