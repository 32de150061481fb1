package provisioner

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

var provisioner = Provisioner{Name: "loadtest.dev/local", Folder: "/volumes"}

// claimOf is a claim that waits for a volume of ours.
func claimOf(uid types.UID, change ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: "data-" + string(uid), Namespace: "shop", UID: uid,
			Annotations: map[string]string{"volume.kubernetes.io/storage-provisioner": provisioner.Name},
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
			StorageClassName: ptr.To("local"),
			VolumeMode:       ptr.To(corev1.PersistentVolumeFilesystem),
		},
	}
	for _, do := range change {
		do(c)
	}
	return c
}

// volumeOf is the volume of that claim, in a phase.
func volumeOf(uid types.UID, phase corev1.PersistentVolumePhase, change ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	v := provisioner.volumeFor(claimOf(uid))
	v.Status.Phase = phase
	for _, do := range change {
		do(v)
	}
	return v
}

func TestVolumesFollowTheirClaims(t *testing.T) {
	type (
		claim  = corev1.PersistentVolumeClaim
		volume = corev1.PersistentVolume
	)
	const released, bound, available = corev1.VolumeReleased, corev1.VolumeBound, corev1.VolumeAvailable
	other := map[string]string{
		"volume.kubernetes.io/storage-provisioner": "other", "pv.kubernetes.io/provisioned-by": "other",
	}
	now := metav1.NewTime(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
	for name, test := range map[string]struct {
		claims               []*claim
		volumes              []*volume
		make, remove, refuse []string
	}{
		"nothing":                     {},
		"claims":                      {claims: []*claim{claimOf("1"), claimOf("2")}, make: []string{"pvc-1", "pvc-2"}},
		"a claim with its volume":     {claims: []*claim{claimOf("1")}, volumes: []*volume{volumeOf("1", "")}},
		"a bound claim":               {claims: []*claim{claimOf("1", func(c *claim) { c.Spec.VolumeName = "pvc-1" })}},
		"a claim in deletion":         {claims: []*claim{claimOf("1", func(c *claim) { c.DeletionTimestamp = &now })}},
		"a claim of another":          {claims: []*claim{claimOf("1", func(c *claim) { c.Annotations = other })}},
		"a claim without provisioner": {claims: []*claim{claimOf("1", func(c *claim) { c.Annotations = nil })}},
		"a claim without a mode":      {claims: []*claim{claimOf("1", func(c *claim) { c.Spec.VolumeMode = nil })}, make: []string{"pvc-1"}},
		"a claim of a block device": {
			claims: []*claim{claimOf("1", func(c *claim) { c.Spec.VolumeMode = ptr.To(corev1.PersistentVolumeBlock) })},
			refuse: []string{"claim shop/data-1 asks for a volume of mode Block, but only Filesystem is provided"},
		},
		"volumes in use":           {volumes: []*volume{volumeOf("1", bound), volumeOf("2", available)}},
		"a released volume":        {volumes: []*volume{volumeOf("1", released), volumeOf("2", bound)}, remove: []string{"pvc-1"}},
		"a volume to retain":       {volumes: []*volume{volumeOf("1", released, func(v *volume) { v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain })}},
		"a volume in deletion":     {volumes: []*volume{volumeOf("1", released, func(v *volume) { v.DeletionTimestamp = &now })}},
		"a volume of another":      {volumes: []*volume{volumeOf("1", released, func(v *volume) { v.Annotations = other })}},
		"a volume made by hand":    {volumes: []*volume{volumeOf("1", released, func(v *volume) { v.Annotations = nil })}},
		"a new claim, an old name": {claims: []*claim{claimOf("2")}, volumes: []*volume{volumeOf("1", released)}, make: []string{"pvc-2"}, remove: []string{"pvc-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := provisioner.decide(test.claims, test.volumes)
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

func names(volumes []*corev1.PersistentVolume) (all []string) {
	for _, v := range volumes {
		all = append(all, v.Name)
	}
	return all
}

func TestVolumeForAClaim(t *testing.T) {
	got, err := yaml.Marshal(provisioner.volumeFor(claimOf("1")))
	if err != nil {
		t.Fatal(err)
	}
	const want = `metadata:
  annotations:
    pv.kubernetes.io/provisioned-by: loadtest.dev/local
  name: pvc-1
spec:
  accessModes:
  - ReadWriteOnce
  capacity:
    storage: 1Gi
  claimRef:
    apiVersion: v1
    kind: PersistentVolumeClaim
    name: data-1
    namespace: shop
    uid: "1"
  local:
    path: /volumes/pvc-1
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions:
        - key: kubernetes.io/hostname
          operator: Exists
  persistentVolumeReclaimPolicy: Delete
  storageClassName: local
status: {}
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("volume (-want +got):\n%s", diff)
	}
}
