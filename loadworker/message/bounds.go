package message

import (
	"fmt"

	"google.golang.org/protobuf/types/descriptorpb"
)

// The bounds of a descriptor set, beside MaxSize. Its library takes more memory and time for
// one than in proportion to its size: each thing that is declared has its full name, a
// message within others that of all of them, and an import is followed to all that is
// imported publicly, on each of the ways there.
const (
	// maxDeclared is more than a set of MaxSize declares that protoc wrote: it takes some
	// 50 bytes for a field, and the library up to 1 KiB.
	maxDeclared = 32 << 10
	// maxName bounds a full name.
	maxName = 512
	// maxNested is how deep messages may be in one another, as protoc has it.
	maxNested = 32
	// maxPublic bounds the ways to what files import publicly.
	maxPublic = 32 << 10
)

// bounds counts what a set declares.
type bounds struct {
	declared int
	// public are the ways by name of the file, to what it imports publicly.
	files  map[string]*descriptorpb.FileDescriptorProto
	public map[string]int
}

// checkBounds refuses a set that would take too much memory or time.
func checkBounds(set *descriptorpb.FileDescriptorSet) error {
	b := bounds{files: map[string]*descriptorpb.FileDescriptorProto{}, public: map[string]int{}}
	if err := b.set(set); err != nil {
		return fmt.Errorf("is a descriptor set that the worker does not read: it %w", err)
	}
	return nil
}

func (b *bounds) set(set *descriptorpb.FileDescriptorSet) error {
	for _, f := range set.GetFile() {
		b.files[f.GetName()] = f
		if err := b.file(f); err != nil {
			return err
		}
	}
	ways := 0
	for _, f := range set.GetFile() {
		for _, name := range f.GetDependency() {
			ways += b.ways(name)
		}
		if ways > maxPublic {
			return fmt.Errorf("leads to public imports in more than %d ways", maxPublic)
		}
	}
	return nil
}

func (b *bounds) file(f *descriptorpb.FileDescriptorProto) error {
	if err := b.add("", f.GetName(), 0); err != nil {
		return err
	}
	err := b.fields(f.GetPackage(), f.GetExtension())
	for _, m := range f.GetMessageType() {
		if err == nil {
			err = b.message(f.GetPackage(), m, 1)
		}
	}
	for _, e := range f.GetEnumType() {
		if err == nil {
			err = b.enum(f.GetPackage(), e)
		}
	}
	for _, s := range f.GetService() {
		if err == nil {
			err = b.add(f.GetPackage(), s.GetName(), 0)
		}
		for _, m := range s.GetMethod() {
			if err == nil {
				err = b.add(f.GetPackage()+"."+s.GetName(), m.GetName(), 0)
			}
		}
	}
	return err
}

func (b *bounds) message(within string, m *descriptorpb.DescriptorProto, depth int) error {
	if err := b.add(within, m.GetName(), depth); err != nil {
		return err
	}
	name := within + "." + m.GetName()
	err := b.fields(name, m.GetField())
	if err == nil {
		err = b.fields(name, m.GetExtension())
	}
	for _, o := range m.GetOneofDecl() {
		if err == nil {
			err = b.add(name, o.GetName(), 0)
		}
	}
	for _, e := range m.GetEnumType() {
		if err == nil {
			err = b.enum(name, e)
		}
	}
	for _, nested := range m.GetNestedType() {
		if err == nil {
			err = b.message(name, nested, depth+1)
		}
	}
	return err
}

func (b *bounds) fields(within string, list []*descriptorpb.FieldDescriptorProto) error {
	for _, f := range list {
		if err := b.add(within, f.GetName(), 0); err != nil {
			return err
		}
	}
	return nil
}

func (b *bounds) enum(within string, e *descriptorpb.EnumDescriptorProto) error {
	err := b.add(within, e.GetName(), 0)
	for _, v := range e.GetValue() {
		if err == nil {
			err = b.add(within+"."+e.GetName(), v.GetName(), 0)
		}
	}
	return err
}

// add adds what is declared within another thing, so deep within messages.
func (b *bounds) add(within, name string, depth int) error {
	b.declared++
	switch {
	case b.declared > maxDeclared:
		return fmt.Errorf("declares more than %d things", maxDeclared)
	case len(within)+1+len(name) > maxName:
		return fmt.Errorf("has a name of more than %d bytes", maxName)
	case depth > maxNested:
		return fmt.Errorf("has messages that are more than %d deep in one another", maxNested)
	}
	return nil
}

// ways are those by which the library comes to what a file imports publicly, and on from
// there; at most about maxPublic. A file that imports itself is refused later.
func (b *bounds) ways(name string) int {
	if n, known := b.public[name]; known {
		return n
	}
	b.public[name] = 0
	n, f := 0, b.files[name]
	for _, i := range f.GetPublicDependency() {
		if i >= 0 && int(i) < len(f.GetDependency()) && n <= maxPublic {
			n += 1 + b.ways(f.GetDependency()[i])
		}
	}
	b.public[name] = n
	return n
}
