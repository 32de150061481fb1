package coordinator

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// A message has no more parts once it is decoded than were counted before.
func FuzzCountParts(f *testing.F) {
	for _, m := range []*workerv1.SessionRequest{
		helloOf("a", 1), snapshotRequest(snapshot(f, 0, 1, true, 10)), snapshotRequest(withLedgers(f, 0, "x", 3)),
		{Message: &workerv1.SessionRequest_AuditReadings{AuditReadings: &workerv1.AuditReadings{Round: 1, Readings: []*workerv1.AuditReading{{Error: "x"}, {}}}}},
	} {
		b, err := proto.Marshal(m)
		must.Succeed(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := &workerv1.SessionRequest{}
		var counted, decoded parts
		countErr, err := counted.count(b, m.ProtoReflect().Descriptor()), proto.Unmarshal(b, m)
		if err != nil || countErr != nil {
			if err == nil && counted.check() == nil {
				t.Errorf("it is decoded, and not counted: %v", countErr)
			}
			return
		}
		decoded.walk(m.ProtoReflect())
		if decoded.nested > counted.nested || decoded.texts > counted.texts || decoded.numbers > counted.numbers {
			t.Errorf("decoded %+v, counted %+v", decoded, counted)
		}
	})
}

// walk adds the parts of a decoded message.
func (p *parts) walk(m protoreflect.Message) {
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.IsMap():
			p.texts += v.Map().Len()
		case field.IsList():
			for i := range v.List().Len() {
				p.value(field, v.List().Get(i))
			}
		default:
			p.value(field, v)
		}
		return true
	})
}

func (p *parts) value(field protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch field.Kind() {
	case protoreflect.MessageKind:
		p.nested++
		p.walk(v.Message())
	case protoreflect.StringKind, protoreflect.BytesKind:
		p.texts++
	default:
		p.numbers++
	}
}
