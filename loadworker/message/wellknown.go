package message

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// wellKnown are the messages that have a JSON of their own. The library takes their fields
// for granted, and panics if a file declares other ones under their names.
var wellKnown = []proto.Message{
	(*anypb.Any)(nil), (*durationpb.Duration)(nil), (*emptypb.Empty)(nil), (*fieldmaskpb.FieldMask)(nil),
	(*structpb.Struct)(nil), (*structpb.Value)(nil), (*structpb.ListValue)(nil), (*timestamppb.Timestamp)(nil),
	(*wrapperspb.BoolValue)(nil), (*wrapperspb.BytesValue)(nil), (*wrapperspb.DoubleValue)(nil),
	(*wrapperspb.FloatValue)(nil), (*wrapperspb.Int32Value)(nil), (*wrapperspb.Int64Value)(nil),
	(*wrapperspb.StringValue)(nil), (*wrapperspb.UInt32Value)(nil), (*wrapperspb.UInt64Value)(nil),
}

// checkWellKnown refuses files that declare such a message otherwise.
func checkWellKnown(files *protoregistry.Files) error {
	for _, m := range wellKnown {
		want := m.ProtoReflect().Descriptor()
		found, err := files.FindDescriptorByName(want.FullName())
		if err != nil {
			continue // not declared
		}
		if got, ok := found.(protoreflect.MessageDescriptor); !ok || !isAlike(got.Fields(), want.Fields()) {
			return fmt.Errorf("%s is declared with other fields than protobuf's own", want.FullName())
		}
	}
	return nil
}

// isAlike says whether messages have the same fields.
func isAlike(got, want protoreflect.FieldDescriptors) bool {
	for i := range want.Len() {
		w := want.Get(i)
		g := got.ByNumber(w.Number())
		if g == nil || g.Kind() != w.Kind() || g.IsList() != w.IsList() || g.IsMap() != w.IsMap() || (g.ContainingOneof() == nil) != (w.ContainingOneof() == nil) {
			return false
		}
		if m := w.Message(); m != nil && g.Message().FullName() != m.FullName() {
			return false
		}
		if w.IsMap() && !isAlike(g.Message().Fields(), w.Message().Fields()) {
			return false
		}
	}
	return got.Len() == want.Len()
}
