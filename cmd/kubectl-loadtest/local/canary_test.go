package local_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// A run that goes wrong shows nothing of Secrets, requests or responses. The same run with
// its responses exposed shows that the search finds them.
func TestNothingOfTheTrafficIsShown(t *testing.T) {
	s := canaryTarget(t)
	var found atomic.Int64
	t.Cleanup(func() {
		fmt.Printf("canaries: %d planted, %d found\n", len(secretCanaries)+len(specCanaries)+len(responseCanaries), found.Load())
	})
	for name, test := range failing {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, expose := range []string{"", "expose: Responses, "} {
				texts := textsOfRun(t, s.URL, expose+test.fields, canaryDeadline)
				// A worker may take longer to start on a busy machine.
				for deadline := int64(2 * canaryDeadline); !strings.Contains(texts["status"], test.says) && deadline < 300; deadline *= 2 {
					texts = textsOfRun(t, s.URL, expose+test.fields, deadline)
				}
				if !strings.Contains(texts["status"], test.says) || test.says == "" || texts["log"] == "" {
					t.Errorf("the status does not say %q, or the log of %d bytes nothing:\n%s", test.says, len(texts["log"]), texts["status"])
				}
				in := canariesIn(texts)
				if expose == "" {
					found.Add(int64(len(in)))
				} else if in[test.exposed] != "" {
					delete(in, test.exposed)
				} else if test.exposed != "" {
					t.Errorf("%s is not exposed: the search does not see it", test.exposed)
				}
				for canary, where := range in {
					t.Errorf("%s%s is in %s", expose, canary, where)
				}
			}
		})
	}
}

// canariesIn returns the canaries that are in texts, with the place of each.
func canariesIn(texts map[string]string) map[string]string {
	in := map[string]string{}
	for where, text := range texts {
		canaries := slices.Concat(secretCanaries, responseCanaries, loginCanaries)
		if where != "HTML" {
			canaries = append(canaries, specCanaries...)
		}
		for _, canary := range canaries {
			if at := strings.Index(text, canary); at >= 0 {
				in[canary] = where + ": …" + text[max(0, at-100):min(len(text), at+40)]
			}
		}
	}
	return in
}

// textsOfRun runs a spec with so many seconds to begin, and returns the texts that people see
// of the run, by name.
func textsOfRun(t *testing.T, target, fields string, deadline int64) map[string]string {
	t.Helper()
	if !strings.Contains(fields, "target: ") {
		fields = `target: {url: TARGET, ` + canaryHeaders + `}, ` + fields
	}
	lt := loadTest(t, target, "{"+fields+", "+canarySteps+"}")
	lt.Spec.StartDeadlineSeconds = &deadline
	var said, kept strings.Builder
	c, logs := config(t), filepath.Join(t.TempDir(), "stderr")
	c.Files = canaryObjects(t)
	c.Say = func(s string) { said.WriteString(s) }
	c.Keep = func(step *archive.Step) { _ = json.NewEncoder(&kept).Encode(step) }
	c.Command = append([]string{"/bin/sh", "-c", `"$@" 2>&1 | tee "$0" >&2`, logs}, c.Command...)
	got := carryOut(t, lt, c)
	if got.Status.Verdict == v1beta1.VerdictPassed {
		t.Error("the run passed, and was to go wrong")
	}
	texts := local.Reports(t, got)
	log, _ := os.ReadFile(logs) // there is none of a worker that did not begin
	// The lines of YAML are folded.
	texts["status"] = strings.Join(strings.Fields(texts["status"]), " ")
	texts["log"], texts["last words"], texts["archive"] = string(log), said.String(), kept.String()
	return texts
}
