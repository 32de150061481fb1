package provisioner

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// claimOf is one that waits for a volume from here.
func claimOf(uid string, change ...func(*claim)) claim {
	c := claim{Metadata: metadata{
		Name: "data", Namespace: "shop", UID: uid, Annotations: map[string]string{wantedFrom: Name},
	}}
	c.Spec.AccessModes = []string{"ReadWriteOnce"}
	c.Spec.Resources.Requests = map[string]string{"storage": "1Gi"}
	c.Spec.StorageClassName = "local"
	c.Spec.VolumeMode = "Filesystem"
	for _, do := range change {
		do(&c)
	}
	return c
}

// volumeOf is the one for that claim, in a phase.
func volumeOf(uid, phase string, change ...func(*volume)) volume {
	v := volumeFor(claimOf(uid), "/volumes")
	v.Status.Phase = phase
	for _, do := range change {
		do(&v)
	}
	return v
}

func TestDecide(t *testing.T) {
	other := map[string]string{wantedFrom: "other", madeBy: "other"}
	for name, test := range map[string]struct {
		claims               []claim
		volumes              []volume
		make, remove, refuse []string
	}{
		"nothing":                    {},
		"a claim":                    {claims: []claim{claimOf("1"), claimOf("2")}, make: []string{"pvc-1", "pvc-2"}},
		"its volume is there":        {claims: []claim{claimOf("1")}, volumes: []volume{volumeOf("1", "")}},
		"a bound one":                {claims: []claim{claimOf("1", func(c *claim) { c.Spec.VolumeName = "pvc-1" })}},
		"one that goes":              {claims: []claim{claimOf("1", func(c *claim) { c.Metadata.DeletionTimestamp = "now" })}},
		"one of another provisioner": {claims: []claim{claimOf("1", func(c *claim) { c.Metadata.Annotations = other })}},
		"one of no provisioner yet":  {claims: []claim{claimOf("1", func(c *claim) { c.Metadata.Annotations = nil })}},
		"a block device": {
			claims: []claim{claimOf("1", func(c *claim) { c.Spec.VolumeMode = "Block" })},
			refuse: []string{"claim shop/data wants a volume of mode Block, but only Filesystem is provided"},
		},
		"a volume in use":          {volumes: []volume{volumeOf("1", "Bound"), volumeOf("2", "Available")}},
		"a volume without claim":   {volumes: []volume{volumeOf("1", "Released"), volumeOf("2", "Bound")}, remove: []string{"pvc-1"}},
		"one that is to be kept":   {volumes: []volume{volumeOf("1", "Released", func(v *volume) { v.Spec.ReclaimPolicy = "Retain" })}},
		"one that goes already":    {volumes: []volume{volumeOf("1", "Released", func(v *volume) { v.Metadata.DeletionTimestamp = "now" })}},
		"one that another made":    {volumes: []volume{volumeOf("1", "Released", func(v *volume) { v.Metadata.Annotations = other })}},
		"one that a person made":   {volumes: []volume{volumeOf("1", "Released", func(v *volume) { v.Metadata.Annotations = nil })}},
		"a new claim, an old name": {claims: []claim{claimOf("2")}, volumes: []volume{volumeOf("1", "Released")}, make: []string{"pvc-2"}, remove: []string{"pvc-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := decide(test.claims, test.volumes, "/volumes")
			if diff := cmp.Diff(test.make, names(d.make)); diff != "" {
				t.Errorf("to make (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.remove, names(d.remove)); diff != "" {
				t.Errorf("to remove (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.refuse, d.refused); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
		})
	}
}

func names(volumes []volume) (all []string) {
	for _, v := range volumes {
		all = append(all, v.Metadata.Name)
	}
	return all
}

func TestVolumeForAClaim(t *testing.T) {
	got, err := json.MarshalIndent(volumeFor(claimOf("1"), "/volumes"), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "apiVersion": "v1",
  "kind": "PersistentVolume",
  "metadata": {
    "name": "pvc-1",
    "annotations": {
      "pv.kubernetes.io/provisioned-by": "loadtest.dev/local"
    }
  },
  "spec": {
    "accessModes": [
      "ReadWriteOnce"
    ],
    "capacity": {
      "storage": "1Gi"
    },
    "claimRef": {
      "apiVersion": "v1",
      "kind": "PersistentVolumeClaim",
      "namespace": "shop",
      "name": "data",
      "uid": "1"
    },
    "local": {
      "path": "/volumes/pvc-1"
    },
    "nodeAffinity": {
      "required": {
        "nodeSelectorTerms": [
          {
            "matchExpressions": [
              {
                "key": "kubernetes.io/hostname",
                "operator": "Exists"
              }
            ]
          }
        ]
      }
    },
    "persistentVolumeReclaimPolicy": "Delete",
    "storageClassName": "local"
  }
}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("volume (-want +got):\n%s", diff)
	}
}
