package provisioner

import (
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	volumehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"
)

// decision is what to do.
type decision struct {
	make    []*corev1.PersistentVolume
	remove  []*corev1.PersistentVolume
	refused []string
}

// decide compares the claims with the volumes that exist.
func (p Provisioner) decide(claims []*corev1.PersistentVolumeClaim, volumes []*corev1.PersistentVolume) decision {
	var d decision
	exists := map[string]bool{}
	for _, v := range volumes {
		exists[v.Name] = true
		if p.released(v) {
			d.remove = append(d.remove, v)
		}
	}
	for _, c := range claims {
		switch {
		case !p.pending(c) || exists[nameFor(c)]:
		case ptr.Deref(c.Spec.VolumeMode, corev1.PersistentVolumeFilesystem) != corev1.PersistentVolumeFilesystem:
			d.refused = append(d.refused, fmt.Sprintf("claim %s/%s asks for a volume of mode %s, but only Filesystem is provided",
				c.Namespace, c.Name, *c.Spec.VolumeMode))
		default:
			d.make = append(d.make, p.volumeFor(c))
		}
	}
	return d
}

// pending is true for a claim that waits for a volume of this provisioner, whose
// name the controller manager has written into the annotation.
func (p Provisioner) pending(c *corev1.PersistentVolumeClaim) bool {
	return c.Annotations[volumehelpers.AnnStorageProvisioner] == p.Name && c.Spec.VolumeName == "" && c.DeletionTimestamp == nil
}

// released is true for a volume of this provisioner whose claim is gone.
func (p Provisioner) released(v *corev1.PersistentVolume) bool {
	return v.Annotations[volumehelpers.AnnDynamicallyProvisioned] == p.Name && v.DeletionTimestamp == nil &&
		v.Status.Phase == corev1.VolumeReleased && v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
}

// nameFor makes the name from the claim's UID, so that a claim has one volume
// even if it is made twice.
func nameFor(c *corev1.PersistentVolumeClaim) string { return "pvc-" + string(c.UID) }

func (p Provisioner) volumeFor(c *corev1.PersistentVolumeClaim) *corev1.PersistentVolume {
	name := nameFor(c)
	return &corev1.PersistentVolume{
		// With the annotation, the controller manager leaves the removal to us.
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{volumehelpers.AnnDynamicallyProvisioned: p.Name}},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: c.Spec.AccessModes,
			// It limits no pod: the limit is the host's disk.
			Capacity: corev1.ResourceList{corev1.ResourceStorage: c.Spec.Resources.Requests[corev1.ResourceStorage]},
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name, UID: c.UID,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				Local: &corev1.LocalVolumeSource{Path: filepath.Join(p.Folder, name)},
			},
			NodeAffinity:                  &corev1.VolumeNodeAffinity{Required: anyNode()},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			StorageClassName:              ptr.Deref(c.Spec.StorageClassName, ""),
		},
	}
}

// anyNode admits every node: a volume of the type local must have a selector.
func anyNode() *corev1.NodeSelector {
	return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpExists}},
	}}}
}
