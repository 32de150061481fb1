package failure

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

func TestWhatTheTargetSentIsInAMessageOnlyIfItIsExposed(t *testing.T) {
	long := strings.Repeat("ä", 200)
	for name, test := range map[string]struct {
		err             error
		hidden, exposed string
	}{
		"as it is":     {Withhold("s3cret", "malformed line of %d bytes", 6), "malformed line of 6 bytes", `malformed line of 6 bytes; the target sent "s3cret"`},
		"of bytes":     {Withhold([]byte("s3cret"), "malformed"), "malformed", `malformed; the target sent "s3cret"`},
		"wrapped":      {fmt.Errorf("preflight: %w", &Error{Reading, Withhold("a\nb", "malformed")}), "preflight: read: malformed", `preflight: read: malformed; the target sent "a\nb"`},
		"long":         {Withhold(long, "malformed"), "malformed", `malformed; the target sent "` + long[:76] + `…"`},
		"nothing sent": {Withhold("", "the body is empty"), "the body is empty", `the body is empty; the target sent ""`},
		"another":      {errors.New("refused"), "refused", "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Message(test.err, false); got != test.hidden {
				t.Errorf("hidden: %s\nwant %s", got, test.hidden)
			}
			if got := Message(test.err, true); got != test.exposed {
				t.Errorf("exposed: %s\nwant %s", got, test.exposed)
			}
		})
	}
}

func TestWithheldResponseIsABadOne(t *testing.T) {
	if got := Classify(&Error{Reading, Withhold("x", "malformed")}); got != measure.BadResponse {
		t.Errorf("classified as %v", got)
	}
}
