package local

import (
	"encoding/json"
	"regexp"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// adapt makes assignments such as a cluster's workers have ones for this machine: its
// own addresses may be dialled, the files are in the folder, and targets may name the
// Services that were directed to the target.
func (r *run) adapt(list []*workerv1.Assignment) {
	for _, a := range list {
		a.Target.AllowSpecialAddresses = true
		a.Target.Aliases = r.Services.names(a.GetTarget().GetUrl(), r.test.Namespace)
		for _, t := range a.OtherTargets {
			t.AllowSpecialAddresses = true
		}
		if c := a.Control; c != nil {
			c.Target.AllowSpecialAddresses = true
			_, host, _ := strings.Cut(a.GetTarget().GetUrl(), "://")
			c.Target.Aliases = append(r.Services.names(c.GetTarget().GetUrl(), r.test.Namespace), append(a.GetTarget().GetAliases(), host)...)
		}
		relocate(a.ProtoReflect(), r.folder)
	}
}

// relocate puts a folder before the path in each field that names a file: those whose
// name is file, or ends in _file. Parts that assignments share are relocated once.
func relocate(m protoreflect.Message, folder string) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
		case f.Message() != nil && f.IsList():
			for i := range v.List().Len() {
				relocate(v.List().Get(i).Message(), folder)
			}
		case f.Message() != nil:
			relocate(v.Message(), folder)
		case isFile(f) && (strings.HasPrefix(v.String(), plan.FileDir+"/") || strings.HasPrefix(v.String(), plan.VolumeDir+"/")):
			m.Set(f, protoreflect.ValueOfString(folder+v.String()))
		}
		return true
	})
}

// keyFile is the path of a key of a ConfigMap or Secret, below the folder of a run.
var keyFile = regexp.MustCompile(regexp.QuoteMeta(plan.FileDir) + `/(configmaps|secrets)/([-.a-z0-9]+)/([-._a-zA-Z0-9]+)`)

// named is what a worker says, with the ConfigMaps and Secrets, which the user knows, in place of files in the
// folder, which is removed after the run.
func named(said, folder string) string {
	if !strings.Contains(said, folder) {
		return said
	}
	said = strings.ReplaceAll(said, folder+plan.FileDir+"/", plan.FileDir+"/")
	return keyFile.ReplaceAllStringFunc(said, func(path string) string {
		found := keyFile.FindStringSubmatch(path)
		return found[3] + " of " + map[string]string{"configmaps": "ConfigMap ", "secrets": "Secret "}[found[1]] + found[2]
	})
}

func isFile(f protoreflect.FieldDescriptor) bool {
	return f.Kind() == protoreflect.StringKind && (f.Name() == "file" || strings.HasSuffix(string(f.Name()), "_file"))
}

// stored is a status as the API server would return it, which has less precise times.
func stored(s v1beta1.LoadTestStatus) (read v1beta1.LoadTestStatus, err error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return read, err
	}
	return read, json.Unmarshal(raw, &read)
}
