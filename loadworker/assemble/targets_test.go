package assemble

import (
	"strings"
	"testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

func ofTargets(file string, format workerv1.TargetsFormat) *workerv1.Assignment {
	a := workertest.Assignment("http://shortener:8080")
	a.Requests = []*workerv1.Request{{Name: "replay", Weight: 1, TargetsFile: file, TargetsFormat: format}}
	return a
}

func TestTargetsOfBothFormatsAreRead(t *testing.T) {
	for format, text := range map[workerv1.TargetsFormat]string{
		workerv1.TargetsFormat_TARGETS_FORMAT_UNSPECIFIED: "GET http://shortener:8080/a\n",
		workerv1.TargetsFormat_TARGETS_FORMAT_HTTP:        "GET http://shortener:8080/a\n",
		workerv1.TargetsFormat_TARGETS_FORMAT_JSON:        `{"method": "GET", "url": "http://shortener:8080/a"}`,
	} {
		if got := render(t, ofTargets(file(t, text), format), source.Vars{}); got.Method != "GET" || string(got.Path) != "/a" {
			t.Errorf("%v: %s %s, want GET /a", format, got.Method, got.Path)
		}
	}
}

func TestTargetsThatCannotBeReadAreRefused(t *testing.T) {
	wrong := file(t, "GET /a\nGET /#")
	for path, want := range map[string]string{
		wrong:                `request "replay": targets, file ` + wrong + ": line 2: path: ",
		wrong + ".not-there": `request "replay": targets: open `,
	} {
		refusal := refusal(t, ofTargets(path, 0), testConfig())
		if refusal.Reason != workerv1.ReasonInvalidSpec || !strings.HasPrefix(refusal.Error(), want) {
			t.Errorf("refused for %s: %v\nwant %s", refusal.Reason, refusal, want)
		}
	}
}

func TestNeedGrowsWithTheTargets(t *testing.T) {
	many := memoryNeed(ofTargets(file(t, strings.Repeat("GET /\n", source.MaxTargets)), 0))
	few := memoryNeed(ofTargets(file(t, "GET /"), 0))
	if n := (many.base - few.base) / source.MaxTargets; n < 100 || n > 200 {
		t.Errorf("%d bytes for each target, want the 64 it takes, its text, and the file", n)
	}
}
