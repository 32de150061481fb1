package assemble

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// A field of a later version is found at any depth: what it asks for would be left out.
func TestAnAssignmentOfALaterVersionIsRefused(t *testing.T) {
	later := protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 1)
	for name, at := range map[string]func(*workerv1.Assignment) protoreflect.Message{
		"nothing":        nil,
		"the assignment": func(a *workerv1.Assignment) protoreflect.Message { return a.ProtoReflect() },
		"a step":         func(a *workerv1.Assignment) protoreflect.Message { return a.GetSteps()[0].ProtoReflect() },
		"a step of journeys": func(a *workerv1.Assignment) protoreflect.Message {
			return a.GetJourneys()[0].GetSteps()[1].ProtoReflect()
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := &workerv1.Assignment{
				Steps:    []*workerv1.Step{{}},
				Journeys: []*workerv1.Journey{{Steps: []*workerv1.JourneyStep{{Capture: map[string]string{"a": ".a"}}, {}}}},
			}
			if at != nil {
				at(a).SetUnknown(later)
			}
			wire, err := proto.Marshal(a)
			must.Succeed(t, err)
			got := &workerv1.Assignment{}
			must.Succeed(t, proto.Unmarshal(wire, got))
			err = checkKnown(got)
			if (err != nil) != (at != nil) || err != nil && !strings.Contains(err.Error(), "field 1000 of ") {
				t.Errorf("error %v", err)
			}
		})
	}
}
