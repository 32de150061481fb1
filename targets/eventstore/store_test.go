package eventstore

import (
	"errors"
	"strings"
	"testing"
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
