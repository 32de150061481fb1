package must_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// noted is a test that notes what is reported, and does not end.
type noted struct {
	testing.TB
	reports []string
}

func (n *noted) Helper()           {}
func (n *noted) Cleanup(do func()) { do() }
func (n *noted) Fatal(args ...any) { n.reports = append(n.reports, "fatal: "+fmt.Sprint(args...)) }
func (n *noted) Errorf(format string, args ...any) {
	n.reports = append(n.reports, fmt.Sprintf(format, args...))
}

type broken struct{ error }

func (b broken) Close() error { return b.error }

func TestErrorsAreReported(t *testing.T) {
	n, err := &noted{}, errors.New("no")
	must.Succeed(n, nil)
	must.Report(n, "it", nil)
	must.Close(n, broken{})
	must.Say(n, err, "o")
	if text := must.ReadFile(n, "must_test.go"); !strings.Contains(string(text), "package must_test") {
		t.Errorf("read %q", text)
	}
	must.Succeed(n, err)
	must.Report(n, "it", err)
	must.Close(n, broken{err})
	must.Say(n, err, "yes")
	must.ReadFile(n, "none")
	must.Say(n, nil, "no")
	want := []string{
		"fatal: no", "it: no", "close: no", `error no, want one that says "yes"`, "fatal: open none: no such file or directory", `error <nil>, want one that says "no"`,
	}
	if got, want := fmt.Sprintf("%q", n.reports), fmt.Sprintf("%q", want); got != want {
		t.Errorf("reported %s, want %s", got, want)
	}
}
