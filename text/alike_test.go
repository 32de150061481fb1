package text_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/text"
)

func TestMostAlike(t *testing.T) {
	for name, want := range map[string]string{
		"duraton": "duration", "DURATION": "duration", "traget": "target", "target": "target", "pth": "path", "zzz": "", "": "",
	} {
		if got := text.MostAlike(name, []string{"duration", "path", "target"}); got != want {
			t.Errorf("most like %q is %q, want %q", name, got, want)
		}
	}
}
