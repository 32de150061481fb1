package policy_test

import (
	"os"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The document of the administrators' guide is valid, and means what the guide says.
func TestLimitsAsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/security/limits.md")
	must.Succeed(t, err)
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	document, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the guide has no document")
	}
	p := load(t, document)
	if a, other := p.For("team-a").Limits, p.For("other").Limits; a.Users != 10_000 || a.Runs != 2 || other.Runs != 5 || p.Cluster().Workers != 200 {
		t.Errorf("the limits are %+v and %+v", a, other)
	}
	if value, ok := p.For("release-eu").Priorities.Value("release-gate"); !ok || value != 100 {
		t.Errorf("release-gate is %d (%t)", value, ok)
	}
}
