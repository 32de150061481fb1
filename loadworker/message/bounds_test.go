package message

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

type (
	setOf  = []*descriptorpb.FileDescriptorProto
	fileOf = descriptorpb.FileDescriptorProto
)

// declaring is a file of so many empty messages.
func declaring(n int) setOf {
	f := &fileOf{Name: proto.String("a.proto")}
	for i := range n {
		f.MessageType = append(f.MessageType, &descriptorpb.DescriptorProto{Name: proto.String(fmt.Sprint("m", i))})
	}
	return setOf{f}
}

// nested is a message that is so deep in others.
func nested(depth int) setOf {
	m := &descriptorpb.DescriptorProto{Name: proto.String("m")}
	for range depth - 1 {
		m = &descriptorpb.DescriptorProto{Name: proto.String("m"), NestedType: []*descriptorpb.DescriptorProto{m}}
	}
	return setOf{{Name: proto.String("a.proto"), MessageType: []*descriptorpb.DescriptorProto{m}}}
}

// diamonds are pairs of files, each of which publicly imports both of the pair before: the
// ways to the first pair are twice as many with each more.
func diamonds(pairs int) (set setOf) {
	name := func(pair int, side string) string { return fmt.Sprint(side, pair) }
	for i := range pairs {
		for _, side := range []string{"a", "b"} {
			f := &fileOf{Name: proto.String(name(i, side))}
			if i > 0 {
				f.Dependency, f.PublicDependency = []string{name(i-1, "a"), name(i-1, "b")}, []int32{0, 1}
			}
			set = append(set, f)
		}
	}
	return set
}

// chain is of files that publicly import the one before.
func chain(n int) (set setOf) {
	for i := range n {
		f := &fileOf{Name: proto.String(fmt.Sprint(i))}
		if i > 0 {
			f.Dependency, f.PublicDependency = []string{fmt.Sprint(i - 1)}, []int32{0}
		}
		set = append(set, f)
	}
	return set
}

// every has one of each thing that has a name, within a package.
func every(name string) setOf {
	field := []*descriptorpb.FieldDescriptorProto{{Name: &name}}
	enum := []*descriptorpb.EnumDescriptorProto{{Name: &name, Value: []*descriptorpb.EnumValueDescriptorProto{{Name: &name}}}}
	return setOf{{
		Name: &name, Package: &name, Extension: field, EnumType: enum,
		MessageType: []*descriptorpb.DescriptorProto{{
			Name: &name, Field: field, Extension: field, EnumType: enum, OneofDecl: []*descriptorpb.OneofDescriptorProto{{Name: &name}},
		}},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: &name, Method: []*descriptorpb.MethodDescriptorProto{{Name: &name}}}},
	}}
}

// A small set can take its library more memory than a worker has, or more time than there
// is: what it makes of one is not in proportion to the size.
func TestDescriptorsThatWouldTakeTooMuchAreRefused(t *testing.T) {
	loop := chain(3)
	loop[0].Dependency, loop[0].PublicDependency = []string{"2"}, []int32{0}
	astray := chain(2)
	astray[1].PublicDependency = []int32{-1, 7}
	for name, tt := range map[string]struct {
		set  setOf
		want string
	}{
		"as many messages as may be":   {declaring(maxDeclared - 1), ""},
		"one more message":             {declaring(maxDeclared), "it declares more than 32768 things"},
		"messages as deep as may be":   {nested(maxNested), ""},
		"a level more":                 {nested(maxNested + 1), "it has messages that are more than 32 deep in one another"},
		"few diamonds":                 {diamonds(10), ""},
		"diamonds":                     {diamonds(60), "it leads to public imports in more than 32768 ways"},
		"a short chain":                {chain(200), ""},
		"a long chain":                 {chain(2000), "it leads to public imports in more than 32768 ways"},
		"a file that imports itself":   {setOf{{Name: proto.String("a"), Dependency: []string{"a"}, PublicDependency: []int32{0}}}, "is not a complete descriptor set"},
		"a file that leads to itself":  {loop, "is not a complete descriptor set"},
		"public imports that are none": {astray, "is not a complete descriptor set"},
		"a long name":                  {setOf{{Name: proto.String("a"), Package: proto.String(strings.Repeat("p", 510)), MessageType: declaring(1)[0].MessageType}}, "it has a name of more than 512 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: tt.set})
			must.Succeed(t, err)
			if _, err = Read(set); tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			_, err = Sent(tt.set)
			want := strings.Replace(tt.want, "is not a complete descriptor set", "is not a valid set of descriptors", 1)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(failure.Message(err, false), want)) {
				t.Errorf("sent by a target: %v, want %q", err, want)
			}
		})
	}
	counted := bounds{}
	if err := counted.file(every("n")[0]); err != nil || counted.declared != 12 {
		t.Errorf("%d things of each kind are counted, want 12: %v", counted.declared, err)
	}
}
