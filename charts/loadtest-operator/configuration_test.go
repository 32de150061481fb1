package chart_test

import (
	"testing"

	rules "github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What the value config says is what the operator reads.
func TestConfigurationIsRead(t *testing.T) {
	for name, tc := range map[string]struct {
		set     []string
		allowed bool
	}{
		"none":  {nil, false},
		"null":  {[]string{"config=null"}, false}, // as Helm reads a key of which all lines are comments
		"rules": {[]string{"config.targets.rules[0].namespaces={team-*}", "config.targets.rules[0].hosts={*.example.com}"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			data := map[string]string{}
			for key, value := range find(t, render(t, sets(tc.set)...), "ConfigMap", release+"-config")["data"].(map[string]any) {
				data[key] = value.(string)
			}
			p, err := rules.Next(nil, data)
			must.Succeed(t, err)
			same.As(t, "api.example.com is allowed", tc.allowed, p.For("team-a").Targets.Allows("api.example.com"))
			if p.For("shop").Targets.Allows("api.example.com") {
				t.Error("a rule of other namespaces is about this one")
			}
		})
	}
}
