package message

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// MaxSize bounds a descriptor set: the size of a ConfigMap.
const MaxSize = 1 << 20

// Descriptors describe services and their messages.
type Descriptors struct {
	files *protoregistry.Files
	types *dynamicpb.Types
}

// Read reads a FileDescriptorSet, as protoc and buf write it.
func Read(set []byte) (*Descriptors, error) {
	var list descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(set, &list); err != nil || len(list.GetFile()) == 0 {
		return nil, fmt.Errorf("is no descriptor set of protobuf: it must be binary, as protoc --include_imports --descriptor_set_out writes it, and is %d bytes of something else", len(set))
	}
	files, err := protodesc.NewFiles(&list)
	if err != nil {
		return nil, fmt.Errorf("is no complete descriptor set: %s; protoc must have --include_imports", plain(err))
	}
	return &Descriptors{files: files, types: dynamicpb.NewTypes(files)}, nil
}

// plain is the text of an error of protobuf's library, which has spaces of two kinds so that
// programs do not depend on it.
func plain(err error) string {
	return strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\u00a0", " "), "proto: ")
}

// Method finds a unary method by a name such as shop.v1.Cart/Add.
func (d *Descriptors) Method(name string) (*Method, error) {
	service, method, ok := strings.Cut(name, "/")
	if !ok {
		return nil, fmt.Errorf("%q is no method such as shop.v1.Cart/Add", name)
	}
	found, err := d.files.FindDescriptorByName(protoreflect.FullName(service))
	described, ok := found.(protoreflect.ServiceDescriptor)
	if err != nil || !ok {
		return nil, fmt.Errorf("the descriptors have no service %s, but %s", service, listed(d.services()))
	}
	m := described.Methods().ByName(protoreflect.Name(method))
	switch {
	case m == nil:
		return nil, fmt.Errorf("service %s has no method %s, but %s", service, method, listed(methods(described)))
	case m.IsStreamingClient() || m.IsStreamingServer():
		return nil, errors.New("is a method of streams; only unary calls can be sent")
	}
	return &Method{name: name, request: m.Input(), reply: m.Output(), types: d.types}, nil
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
