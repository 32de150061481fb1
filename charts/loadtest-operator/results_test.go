package chart_test

import (
	"strings"
	"testing"

	rules "github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// The keys and the volume are in the operator's pods, where its flags have them by
// default, and in no other object.
func TestKeysAndVolumeOfResultsAreMounted(t *testing.T) {
	objects := render(t, "--set", "results.keysSecret=loadtest-keys,results.volume.persistentVolumeClaim.claimName=claim",
		"--set", "config.results.volume.prefix=cluster-a,config.results.webhook.url=https://ci.example.com")
	deployment := find(t, objects, "Deployment", release)
	type object = map[string]any
	want := []any{object{"name": "keys", "secret": object{"secretName": "loadtest-keys", "optional": true}}, object{"name": "results", "persistentVolumeClaim": object{"claimName": "claim"}}}
	same.As(t, "volumes", want, list(t, deployment, "spec", "template", "spec", "volumes"))
	container := list(t, deployment, "spec", "template", "spec", "containers")[0].(object)
	mounts := []any{object{"name": "keys", "mountPath": "/etc/loadtest-operator/keys", "readOnly": true}, object{"name": "results", "mountPath": "/var/lib/loadtest-operator/results"}}
	same.As(t, "mounts", mounts, list(t, container, "volumeMounts"))
	named := 0
	for _, o := range objects {
		text, err := o.MarshalJSON()
		must.Succeed(t, err)
		named += strings.Count(string(text), "loadtest-keys")
	}
	if named != 1 {
		t.Errorf("the Secret is named %d times, want once", named)
	}
	document := find(t, objects, "ConfigMap", release+"-config")["data"].(object)["config.yaml"].(string)
	p, err := rules.Load([]byte(document))
	if err != nil || !p.Results().Archived || !p.Results().Announced {
		t.Errorf("%v, results %+v of\n%s", err, p.Results(), document)
	}
}

func TestResultsWithoutKeysOrVolumeAreRefused(t *testing.T) {
	for set, want := range map[string]string{
		"config.results.objectStore.bucket=a": "name a Secret with them in results.keysSecret",
		"config.results.webhook.url=a":        "name a Secret with them in results.keysSecret",
		"config.results.volume.prefix=a":      "give the volume itself in results.volume",
		"results.secret=a":                    "secret",
	} {
		if _, err := helm(t, release, "--set", set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}
