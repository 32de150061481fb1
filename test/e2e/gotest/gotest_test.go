package gotest

import (
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestChecksAreTestsThatHaveSeenSomethingOrFailed(t *testing.T) {
	out := `not of a test
{"Action":"start","Package":"example.com/m"}
{"Action":"run","Package":"example.com/m","Test":"TestHealth"}
{"Action":"run","Package":"example.com/m","Test":"TestHealth/a_run_that_passed"}
{"Action":"attr","Package":"example.com/m","Test":"TestHealth/a_run_that_passed","Key":"seen","Value":"Healthy"}
{"Action":"attr","Package":"example.com/m","Test":"TestHealth/a_run_that_passed","Key":"other","Value":"x"}
{"Action":"run","Package":"example.com/m","Test":"TestHealth/failed"}
{"Action":"output","Package":"example.com/m","Test":"TestHealth/failed","Output":"    it is "}
{"Action":"output","Package":"example.com/m","Test":"TestHealth/failed","Output":"Degraded\n"}
{"Action":"fail","Package":"example.com/m","Test":"TestHealth/failed"}
{"Action":"pass","Package":"example.com/m","Test":"TestHealth/a_run_that_passed"}
{"Action":"fail","Package":"example.com/m","Test":"TestHealth"}
{"Action":"run","Package":"example.com/m","Test":"TestQuiet"}
{"Action":"pass","Package":"example.com/m","Test":"TestQuiet"}
{"Action":"run","Package":"example.com/m/other","Test":"TestHealth"}
{"Action":"fail","Package":"example.com/m/other","Test":"TestHealth"}
{"Action":"fail","Package":"example.com/m"}
`
	got, err := Read([]byte(out))
	must.Succeed(t, err)
	want := []Check{
		{What: "Health: a run that passed", Seen: "Healthy"},
		{What: "Health: failed", Failed: true, Output: "    it is Degraded\n"},
		{What: "Health", Failed: true},
	}
	same.As(t, "checks", want, got)
}

func TestALineThatIsTooLongIsAnError(t *testing.T) {
	if checks, err := Read([]byte(strings.Repeat("x", 2<<20))); err == nil {
		t.Errorf("checks are %v, want an error", checks)
	}
}
