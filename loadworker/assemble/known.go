package assemble

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// checkKnown refuses an assignment with a field that this worker does not know. The operator, which is of a
// later version, sets it since the spec asks for it: a worker that left it out would send another load, such
// as a step of a journey whose condition it does not ask.
func checkKnown(a *workerv1.Assignment) error {
	return protorange.Range(a.ProtoReflect(), func(at protopath.Values) error {
		m, ok := at.Index(-1).Value.Interface().(protoreflect.Message)
		if !ok || len(m.GetUnknown()) == 0 {
			return nil
		}
		field, _, _ := protowire.ConsumeTag(m.GetUnknown())
		return fmt.Errorf("the operator asks for something that this worker does not know (field %d of %s): use a worker image of the operator's version", field, m.Descriptor().Name())
	})
}
