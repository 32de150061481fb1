package desired

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

const (
	tokenDir = "/var/run/secrets/loadtest.dev"
	// tokenLifetime is the least that the API server grants; the kubelet renews it.
	tokenLifetime = 600
	// groupReadable lets the worker read a file through its group; the file cannot
	// be written.
	groupReadable = 0o440
)

// volumes are what a worker reads: its token for the coordinator and, if the
// spec names any, the files of the LoadTest's ConfigMaps and Secrets, and volumes. The kubelet
// fetches them; the operator never reads what is in them.
func volumes(spec *v1beta1.LoadTestSpec) ([]corev1.Volume, []corev1.VolumeMount) {
	token := corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
		Audience: workerv1.Audience, ExpirationSeconds: ptr.To[int64](tokenLifetime), Path: "token",
	}}
	list := []corev1.Volume{projected("token", token)}
	mounts := []corev1.VolumeMount{{Name: "token", MountPath: tokenDir, ReadOnly: true}}
	files, claimed := byObject(plan.Files(spec))
	if len(files) > 0 {
		list = append(list, projected("files", fileSources(files)...))
		mounts = append(mounts, corev1.VolumeMount{Name: "files", MountPath: plan.FileDir, ReadOnly: true})
	}
	for i, f := range claimed {
		name := fmt.Sprintf("claim-%d", i)
		claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: f.Name, ReadOnly: true}
		list = append(list, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}})
		mounts = append(mounts, corev1.VolumeMount{Name: name, MountPath: f.Folder(), ReadOnly: true})
	}
	return list, mounts
}

// byObject parts the keys of ConfigMaps and Secrets from the claims, of which each is there once.
func byObject(all []plan.File) (keys, claims []plan.File) {
	for _, f := range all {
		switch {
		case f.Kind != plan.InClaim:
			keys = append(keys, f)
		case len(claims) == 0 || claims[len(claims)-1].Name != f.Name:
			claims = append(claims, f)
		}
	}
	return keys, claims
}

func projected(name string, sources ...corev1.VolumeProjection) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: ptr.To[int32](groupReadable), Sources: sources,
	}}}
}

// fileSources has one source for each object, with the keys that are named and
// no other. None is optional: a worker without a file that it needs must not
// start. The files of one object follow each other.
func fileSources(files []plan.File) []corev1.VolumeProjection {
	var list []corev1.VolumeProjection
	for len(files) > 0 {
		object, n := files[0], 0
		var items []corev1.KeyToPath
		for n < len(files) && files[n].Folder() == object.Folder() {
			items = append(items, corev1.KeyToPath{Key: files[n].Key, Path: strings.TrimPrefix(files[n].Path(), plan.FileDir+"/")})
			n++
		}
		files = files[n:]
		name := corev1.LocalObjectReference{Name: object.Name}
		if object.Kind == plan.InSecret {
			list = append(list, corev1.VolumeProjection{Secret: &corev1.SecretProjection{LocalObjectReference: name, Items: items}})
		} else {
			list = append(list, corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: name, Items: items}})
		}
	}
	return list
}
