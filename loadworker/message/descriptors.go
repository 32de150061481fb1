package message

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
)

// MaxSize bounds a descriptor set: the size of a ConfigMap.
const MaxSize = 1 << 20

// Descriptors describe services and their messages.
type Descriptors struct {
	files *protoregistry.Files
	types *dynamicpb.Types
	// digest is that of all files.
	digest string
	// sent says that the target sent them: errors have no names of theirs.
	sent bool
}

// Read reads a FileDescriptorSet, as protoc and buf write it.
func Read(set []byte) (*Descriptors, error) {
	var list descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(set, &list); err != nil || len(list.GetFile()) == 0 {
		return nil, fmt.Errorf("is not a descriptor set of protobuf: it must be binary, as protoc --include_imports --descriptor_set_out writes it; these %d bytes are something else", len(set))
	}
	if err := checkBounds(&list); err != nil {
		return nil, err
	}
	d, err := newDescriptors(&list)
	if err != nil {
		return nil, fmt.Errorf("is not a complete descriptor set: %s; give protoc the flag --include_imports", plain(err))
	}
	return d, nil
}

// Sent makes descriptors of files that the target sent, with all that they import. Their
// number and size are bounded by the caller.
func Sent(files []*descriptorpb.FileDescriptorProto) (*Descriptors, error) {
	set := &descriptorpb.FileDescriptorSet{File: files}
	if err := checkBounds(set); err != nil {
		return nil, err
	}
	d, err := newDescriptors(set)
	if err != nil {
		return nil, failure.Withhold(plain(err), "is not a valid set of descriptors")
	}
	d.sent = true
	return d, nil
}

// newDescriptors makes descriptors of a set that is within the bounds.
func newDescriptors(set *descriptorpb.FileDescriptorSet) (*Descriptors, error) {
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, err
	}
	if err := checkWellKnown(files); err != nil {
		return nil, err
	}
	d := &Descriptors{files: files, types: dynamicpb.NewTypes(files)}
	d.digest, err = digest(set.GetFile())
	return d, err
}

// Digest names the descriptors: equal digests are equal files, whatever order they came in.
func (d *Descriptors) Digest() string { return d.digest }

// digest is the SHA-256 of the files, sorted by name, as a descriptor set without the
// comments and places of the source.
func digest(files []*descriptorpb.FileDescriptorProto) (string, error) {
	set := &descriptorpb.FileDescriptorSet{}
	for _, f := range files {
		without := &descriptorpb.FileDescriptorProto{}
		f.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			without.ProtoReflect().Set(field, v)
			return true
		})
		without.ProtoReflect().SetUnknown(f.ProtoReflect().GetUnknown())
		without.SourceCodeInfo = nil
		set.File = append(set.File, without)
	}
	slices.SortFunc(set.File, func(a, b *descriptorpb.FileDescriptorProto) int { return strings.Compare(a.GetName(), b.GetName()) })
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(encoded)), nil
}

// plain is the text of an error of protobuf's library, which has spaces of two kinds so that
// programs do not depend on it.
func plain(err error) string {
	return strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\u00a0", " "), "proto: ")
}

// Method finds a method by a name such as shop.v1.Cart/Add.
func (d *Descriptors) Method(name string) (*Method, error) {
	service, method, ok := strings.Cut(name, "/")
	if !ok {
		return nil, fmt.Errorf("%q is not a method such as shop.v1.Cart/Add", name)
	}
	described := d.Service(service)
	if described == nil {
		return nil, d.absent(d.services(), "the descriptors have no service %s", service)
	}
	m := described.Methods().ByName(protoreflect.Name(method))
	if m == nil {
		return nil, d.absent(methods(described), "service %s has no method %s", service, method)
	}
	return &Method{
		name: name, request: m.Input(), reply: m.Output(), types: d.types,
		takesStream: m.IsStreamingClient(), returnsStream: m.IsStreamingServer(),
	}, nil
}

// absent is an error about a name, with those that there are.
func (d *Descriptors) absent(names []string, format string, args ...any) error {
	if d.sent {
		return failure.Withhold(listed(names), format, args...)
	}
	return fmt.Errorf(format+", but %s", append(args, listed(names))...)
}

// Service finds a service by its full name, such as shop.v1.Cart; nil: there is none.
func (d *Descriptors) Service(name string) protoreflect.ServiceDescriptor {
	found, err := d.files.FindDescriptorByName(protoreflect.FullName(name))
	if s, ok := found.(protoreflect.ServiceDescriptor); err == nil && ok {
		return s
	}
	return nil
}

// services are the names of all services.
func (d *Descriptors) services() (names []string) {
	d.files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			names = append(names, string(f.Services().Get(i).FullName()))
		}
		return true
	})
	return names
}

func methods(s protoreflect.ServiceDescriptor) (names []string) {
	for i := range s.Methods().Len() {
		names = append(names, string(s.Methods().Get(i).Name()))
	}
	return names
}

// maxListed bounds the names in an error.
const maxListed = 8

// listed lists names for an error.
func listed(names []string) string {
	if len(names) == 0 {
		return "none at all"
	}
	slices.Sort(names)
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}
