package provisioner

import (
	"fmt"
	"path/filepath"
)

const (
	// wantedFrom is set on a claim by the controller manager, and names the
	// provisioner of the claim's storage class.
	wantedFrom = "volume.kubernetes.io/storage-provisioner"
	// madeBy is set by a provisioner; the controller manager then leaves the
	// removal to it.
	madeBy = "pv.kubernetes.io/provisioned-by"
)

// decision is what there is to do.
type decision struct {
	make    []volume
	remove  []volume
	refused []string
}

// decide compares claims with the volumes that there are. Folders of volumes
// are in the one that is given.
func decide(claims []claim, volumes []volume, folder string) decision {
	var d decision
	there := map[string]bool{}
	for _, v := range volumes {
		there[v.Metadata.Name] = true
		if disused(v) {
			d.remove = append(d.remove, v)
		}
	}
	for _, c := range claims {
		switch {
		case !wanting(c) || there[nameFor(c)]:
		case c.Spec.VolumeMode == "Block":
			d.refused = append(d.refused, fmt.Sprintf("claim %s/%s wants a volume of mode Block, but only Filesystem is provided",
				c.Metadata.Namespace, c.Metadata.Name))
		default:
			d.make = append(d.make, volumeFor(c, folder))
		}
	}
	return d
}

// wanting is true of a claim without a volume that is to get one from here.
func wanting(c claim) bool {
	return c.Metadata.Annotations[wantedFrom] == Name && c.Spec.VolumeName == "" && c.Metadata.DeletionTimestamp == ""
}

// disused is true of a volume from here whose claim is gone.
func disused(v volume) bool {
	return v.Metadata.Annotations[madeBy] == Name && v.Metadata.DeletionTimestamp == "" &&
		v.Status.Phase == "Released" && v.Spec.ReclaimPolicy == "Delete"
}

// nameFor makes the name from the claim's UID: making it twice makes one.
func nameFor(c claim) string { return "pvc-" + c.Metadata.UID }

func volumeFor(c claim, folder string) volume {
	name := nameFor(c)
	return volume{
		APIVersion: "v1",
		Kind:       "PersistentVolume",
		Metadata:   metadata{Name: name, Annotations: map[string]string{madeBy: Name}},
		Spec: volumeSpec{
			AccessModes: c.Spec.AccessModes,
			// Nothing keeps a pod to it: the host's disk is the limit.
			Capacity: map[string]string{"storage": c.Spec.Resources.Requests["storage"]},
			ClaimRef: reference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim",
				Namespace: c.Metadata.Namespace, Name: c.Metadata.Name, UID: c.Metadata.UID,
			},
			Local:            local{Path: filepath.Join(folder, name)},
			NodeAffinity:     anyNode(),
			ReclaimPolicy:    "Delete",
			StorageClassName: c.Spec.StorageClassName,
		},
	}
}
