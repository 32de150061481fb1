package chart_test

import (
	"strings"
	"testing"

	rules "github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// The keys and the volume are in the operator's pods, where its flags have them by
// default, and in no other object.
func TestKeysAndVolumeOfResultsAreMounted(t *testing.T) {
	objects := render(t, "--set", "results.keysSecret=loadtest-keys,results.volume.persistentVolumeClaim.claimName=claim",
		"--set", "config.results.volume.prefix=cluster-a,config.results.webhook.url=https://ci.example.com")
	type object = map[string]any
	volumes := []any{object{"name": "keys", "secret": object{"secretName": "loadtest-keys", "optional": true}}, object{"name": "results", "persistentVolumeClaim": object{"claimName": "claim"}}}
	mounts(t, objects, volumes, []any{
		object{"name": "keys", "mountPath": "/etc/loadtest-operator/keys", "readOnly": true}, object{"name": "results", "mountPath": "/var/lib/loadtest-operator/results"},
	})
	isNamedOnce(t, objects, "loadtest-keys")
	document := find(t, objects, "ConfigMap", release+"-config")["data"].(object)["config.yaml"].(string)
	p, err := rules.Load([]byte(document))
	if err != nil || !p.Results().Archived || !p.Results().Announced {
		t.Errorf("%v, results %+v of\n%s", err, p.Results(), document)
	}
}

// A volume that one node mounts at a time must leave the old replica's before the new replica's pod starts.
func TestOneReplicaGivesItsVolumeBackFirst(t *testing.T) {
	const volume = "results.volume.persistentVolumeClaim.claimName=claim"
	for set, want := range map[string]string{volume + ",replicas=1": "Recreate", volume: "RollingUpdate", "replicas=1": "RollingUpdate"} {
		strategy := find(t, render(t, "--set", set), "Deployment", release)["spec"].(map[string]any)["strategy"].(map[string]any)
		if _, rolling := strategy["rollingUpdate"]; strategy["type"] != want || rolling != (want == "RollingUpdate") {
			t.Errorf("%s: the strategy is %v, want %s", set, strategy, want)
		}
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
