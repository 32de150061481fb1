package chart_test

import (
	"slices"
	"strings"
	"testing"
)

// Nothing is pushed unless a collector is named; its Secret is in the operator's pods alone.
func TestCollectorAndItsSecret(t *testing.T) {
	for _, arg := range arguments(t, render(t), release) {
		if strings.Contains(arg, "otlp") {
			t.Errorf("without a collector the operator has %s", arg)
		}
	}
	objects := render(t, "--set", "otlp.endpoint=https://collector.monitoring:4318,otlp.interval=1m5s,otlp.secret=collector-keys")
	args := arguments(t, objects, release)
	for _, want := range []string{"--otlp-endpoint=https://collector.monitoring:4318", "--otlp-interval=1m5s"} {
		if !slices.Contains(args, want) {
			t.Errorf("the operator lacks %s: %v", want, args)
		}
	}
	type object = map[string]any
	mounts(t, objects, []any{object{"name": "otlp", "secret": object{"secretName": "collector-keys", "optional": true}}},
		[]any{object{"name": "otlp", "mountPath": "/etc/loadtest-operator/otlp", "readOnly": true}})
	isNamedOnce(t, objects, "collector-keys")
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
