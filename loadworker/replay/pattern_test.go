package replay_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/replay"
)

// A route has the lines that its expression matches, also where none has to be run to know.
func TestRoutesMatchAsTheirExpressions(t *testing.T) {
	paths := []string{"/", "/a", "/api", "/API", "/api/v1?x=^/api", "/b/api", "/api.json", "/apixjson", "/a\\b", "/%C3%A9"}
	for _, text := range []string{
		"", "^", "^/", "^/api", "^/api$", "/api", "(?i)^/api", "^(?i:/)api", `^/api\.json`, "^/api.json", "^/a|b", "(^/a)", "(?:^/api)", "(?m)^/api", `\A/api`, "^^/api", "$", "^/a?",
		`^/a\\b`, "^/é", `^/\x61pi`, "^/api()", "^/[a]pi", `^\Q/api.\E`, "(?U)^/api", "^/(?i)API", "(?s)^/api", `\b`, "x*",
	} {
		t.Run(text, func(t *testing.T) {
			of := regexp.MustCompile(text)
			for _, path := range paths {
				c := config(file(t, line(0, "GET", path)), time.Minute)
				c.Routes = []replay.Route{{Path: of}}
				l, err := replay.New(c)
				if err != nil {
					t.Fatal(err)
				}
				sent := l.Read(t.Context(), nil, func(_, _ int64) {}) == nil
				if want := of.MatchString(path); sent != want {
					t.Errorf("%s is sent: %v, want %v", path, sent, want)
				}
			}
		})
	}
}
