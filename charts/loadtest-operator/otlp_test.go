package chart_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// Nothing is pushed unless a collector is named; its Secret is in the operator's pods alone.
func TestCollectorAndItsSecret(t *testing.T) {
	type object = map[string]any
	container := func(args ...string) object {
		deployment := find(t, render(t, args...), "Deployment", release)
		return list(t, deployment, "spec", "template", "spec", "containers")[0].(object)
	}
	for _, arg := range container()["args"].([]any) {
		if strings.Contains(arg.(string), "otlp") {
			t.Errorf("without a collector the operator has %s", arg)
		}
	}
	given := []string{"--set", "otlp.endpoint=https://collector.monitoring:4318,otlp.interval=1m,otlp.secret=collector-keys"}
	with := container(given...)
	for _, want := range []string{"--otlp-endpoint=https://collector.monitoring:4318", "--otlp-interval=1m"} {
		if !slices.Contains(with["args"].([]any), any(want)) {
			t.Errorf("the operator lacks %s: %v", want, with["args"])
		}
	}
	same.As(t, "mounts", []any{object{"name": "otlp", "mountPath": "/etc/loadtest-operator/otlp", "readOnly": true}}, list(t, with, "volumeMounts"))
	deployment := find(t, render(t, given...), "Deployment", release)
	same.As(t, "volumes", []any{object{"name": "otlp", "secret": object{"secretName": "collector-keys", "optional": true}}}, list(t, deployment, "spec", "template", "spec", "volumes"))
	named := 0
	for _, o := range render(t, given...) {
		text, err := o.MarshalJSON()
		must.Succeed(t, err)
		named += strings.Count(string(text), "collector-keys")
	}
	if named != 1 {
		t.Errorf("the Secret is named %d times, want once", named)
	}
}

func TestCollectorsThatAreRefused(t *testing.T) {
	for set, want := range map[string]string{
		"otlp.secret=keys":                    "give its URL in otlp.endpoint",
		"otlp.endpoint=collector:4318":        "endpoint",
		"otlp.endpoint=https://me:key@c:4318": "endpoint",
		"otlp.endpoint=https://c:4318?key=a":  "endpoint",
		"otlp.interval=5s":                    "interval",
		"otlp.headers=a":                      "headers",
	} {
		if _, err := helm(t, release, "--set", set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}
