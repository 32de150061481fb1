package coordinator

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// A load whose window is not known has each of its snapshots refused.
func TestEveryLoadHasAWindow(t *testing.T) {
	loads := (&workerv1.Step{}).ProtoReflect().Descriptor().Oneofs().ByName("load").Fields()
	for i := range loads.Len() {
		step := &workerv1.Step{Index: 3}
		load := step.ProtoReflect().Mutable(loads.Get(i)).Message()
		fields := load.Descriptor().Fields()
		for j := range fields.Len() {
			if name := fields.Get(j).Name(); strings.HasSuffix(string(name), "duration_nanos") || strings.HasSuffix(string(name), "limit_nanos") {
				load.Set(fields.Get(j), protoreflect.ValueOfInt64(int64(7*time.Second)))
			}
		}
		if got := windowOf(&workerv1.Assignment{Steps: []*workerv1.Step{step}}, 3); got != 7*time.Second {
			t.Errorf("%s has a window of %v, want 7s", loads.Get(i).Name(), got)
		}
	}
}
