package plan

import (
	"cmp"
	"path"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

const (
	// FileDir is where the kubelet mounts the keys of ConfigMaps and Secrets that a LoadTest names
	// into its workers, and VolumeDir where it mounts volumes: one cannot be mounted inside another
	// that is read-only.
	FileDir, VolumeDir = "/var/run/loadtest", "/var/run/loadtest-volumes"
)

// The keys of a Secret of type kubernetes.io/tls.
const (
	tlsCertKey = "tls.crt"
	tlsKeyKey  = "tls.key"
)

// FileKind is the kind of an object that holds a file.
type FileKind string

// The kinds, by the names that people know.
const (
	InConfigMap FileKind = "ConfigMap"
	InSecret    FileKind = "Secret"
	InClaim     FileKind = "PersistentVolumeClaim"
)

// folders are where the files of a kind are.
var folders = map[FileKind]string{InConfigMap: FileDir + "/configmaps", InSecret: FileDir + "/secrets", InClaim: VolumeDir + "/claims"}

// File is a file that the workers need: a key of a ConfigMap or Secret, or a file of a volume.
type File struct {
	Kind FileKind
	// Name is the object's name, and Key the key in its data, or the path in the volume.
	Name, Key string
}

// Path is where a worker finds the file. It is the same for the Job, which mounts it, and for the
// assignment, which names it.
func (f File) Path() string { return path.Join(f.Folder(), f.Key) }

// Folder is where the object's files are.
func (f File) Folder() string { return path.Join(folders[f.Kind], f.Name) }

// String is how a message names the file.
func (f File) String() string {
	if f.Kind == InClaim {
		return "file " + f.Key + " of PersistentVolumeClaim " + f.Name
	}
	return "key " + f.Key + " of " + string(f.Kind) + " " + f.Name
}

// Files are the files that a spec names, each once, those of one object together.
func Files(spec *v1beta1.LoadTestSpec) []File {
	var list []File
	add := func(f File, ok bool) {
		if ok {
			list = append(list, f)
		}
	}
	list = append(list, targetFiles(&spec.Target)...)
	for i := range spec.OtherTargets {
		list = append(list, targetFiles(spec.OtherTargets[i].Target())...)
	}
	for i := range spec.Requests {
		r := httpOf(&spec.Requests[i])
		add(contentFile(r.BodyFrom))
		add(targetsFile(r.Targets))
		for _, h := range spec.Requests[i].OwnHeaders() {
			add(headerFile(&h))
		}
	}
	for _, q := range questions(spec) {
		for _, h := range q.OwnHeaders() {
			add(headerFile(&h))
		}
	}
	for _, a := range spec.StoredAudits() {
		for _, h := range a.Stored.Read.OwnHeaders() {
			add(headerFile(&h))
		}
	}
	for i := range spec.Logins {
		list = append(list, loginFiles(&spec.Logins[i])...)
	}
	if r := spec.Replay; r != nil {
		add(contentFile(&r.From))
	}
	for i := range spec.Data {
		list = append(list, dataFile(&spec.Data[i]))
	}
	slices.SortFunc(list, func(a, b File) int { return cmp.Compare(a.Path(), b.Path()) })
	return slices.Compact(list)
}

// SentSecrets are the Secrets and claims whose content requests send, in order. One that has a
// certificate or descriptors alone is not sent.
func SentSecrets(spec *v1beta1.LoadTestSpec) []string {
	kept := *spec
	kept.Target.TLS, kept.Target.GRPC = nil, nil
	kept.OtherTargets = slices.Clone(spec.OtherTargets)
	for i := range kept.OtherTargets {
		kept.OtherTargets[i].TLS = nil
	}
	var names []string
	for _, f := range Files(&kept) {
		if f.Kind != InConfigMap {
			names = append(names, string(f.Kind)+" "+f.Name)
		}
	}
	return slices.Compact(names)
}

// targetFiles are those that a target names.
func targetFiles(t *v1beta1.Target) []File {
	var list []File
	if t.TLS != nil {
		if f, ok := contentFile(t.TLS.CA); ok {
			list = append(list, f)
		}
		if c := t.TLS.ClientCertificate; c != nil {
			list = append(list, secretFile(c.SecretName, tlsCertKey), secretFile(c.SecretName, tlsKeyKey))
		}
	}
	if t.GRPC != nil {
		if f, ok := contentFile(t.GRPC.DescriptorsFrom); ok {
			list = append(list, f)
		}
	}
	for _, h := range t.Headers {
		if f, ok := headerFile(&h); ok {
			list = append(list, f)
		}
	}
	return list
}

func contentFile(s *v1beta1.Content) (File, bool) {
	switch {
	case s == nil:
	case s.Secret != nil:
		return secretFile(s.Secret.Name, s.Secret.Key), true
	case s.ConfigMap != nil:
		return File{InConfigMap, string(s.ConfigMap.Name), s.ConfigMap.Key}, true
	case s.Volume != nil:
		return File{InClaim, string(s.Volume.Claim), s.Volume.Path}, true
	}
	return File{}, false
}

func headerFile(h *v1beta1.Header) (File, bool) {
	if h.ValueFrom == nil {
		return File{}, false
	}
	ref := h.ValueFrom.Secret
	return secretFile(ref.Name, ref.Key), true
}

func dataFile(d *v1beta1.Data) File {
	f, _ := contentFile(&d.From) // the schema requires one
	return f
}

func secretFile(name v1beta1.ObjectName, key string) File {
	return File{InSecret, string(name), key}
}
