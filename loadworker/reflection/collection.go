package reflection

import (
	"bytes"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// The bounds of what a target may send. What it declares in all is bounded by package
// message.
const (
	// MaxBytes bounds all files together: the size of a ConfigMap.
	MaxBytes = 1 << 20
	// maxFiles bounds how many there are, and so the questions.
	maxFiles = 512
	// MaxParts bounds the messages of which all files consist: files, fields, values and
	// so on. Two bytes of an empty one are some hundred in memory.
	MaxParts = 32 << 10
	// maxDepth is how deep they may be in one another.
	maxDepth = 100
)

// collection is the files that came so far.
type collection struct {
	list  []*descriptorpb.FileDescriptorProto
	files map[string]*descriptorpb.FileDescriptorProto
	// encoded is each as it came.
	encoded map[string][]byte
	next    int // of the list, whose imports are looked at

	bytes, parts int // of all that came
}

func newCollection() *collection {
	return &collection{files: map[string]*descriptorpb.FileDescriptorProto{}, encoded: map[string][]byte{}}
}

// add adds the files of an answer. Those that came before are left out.
func (c *collection) add(answer [][]byte) error {
	if len(answer) == 0 {
		return &Error{Err: errors.New("the target's reflection answers with no file")}
	}
	for _, b := range answer {
		if err := c.addFile(b); err != nil {
			return &Error{Err: fmt.Errorf("the target's reflection answers with %w", err)}
		}
	}
	return nil
}

func (c *collection) addFile(b []byte) error {
	// What comes again counts again: it was received.
	if c.bytes += len(b); c.bytes > MaxBytes {
		return fmt.Errorf("more than %d bytes of descriptors", MaxBytes)
	}
	parts, err := countParts(b, fileDescriptor, 0)
	if err != nil {
		return err
	}
	if c.parts += parts; c.parts > MaxParts {
		return fmt.Errorf("more than %d parts of descriptors", MaxParts)
	}
	file := &descriptorpb.FileDescriptorProto{}
	if (proto.UnmarshalOptions{RecursionLimit: maxDepth + 1}).Unmarshal(b, file) != nil || file.GetName() == "" {
		return errNoFile
	}
	if before, ok := c.encoded[file.GetName()]; ok {
		if !bytes.Equal(before, b) {
			return errors.New("two different files of one name")
		}
		return nil
	}
	if len(c.list) == maxFiles {
		return fmt.Errorf("more than %d files", maxFiles)
	}
	c.encoded[file.GetName()], c.files[file.GetName()] = b, file
	c.list = append(c.list, file)
	return nil
}

var (
	errNoFile = errors.New("a file that is not a descriptor of protobuf")
	errDeep   = fmt.Errorf("messages deeper than %d", maxDepth)
)

var fileDescriptor = (&descriptorpb.FileDescriptorProto{}).ProtoReflect().Descriptor()

// countParts counts the messages of which an encoded one consists, itself included, without
// making any.
func countParts(b []byte, d protoreflect.MessageDescriptor, depth int) (parts int, err error) {
	if depth > maxDepth {
		return 0, errDeep
	}
	parts = 1
	for len(b) > 0 && parts <= MaxParts {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return 0, errNoFile
		}
		b = b[n:]
		size := protowire.ConsumeFieldValue(number, kind, b)
		if size < 0 {
			return 0, errNoFile
		}
		if f := d.Fields().ByNumber(number); f != nil && f.Message() != nil && kind == protowire.BytesType {
			within, _ := protowire.ConsumeBytes(b)
			inner, err := countParts(within, f.Message(), depth+1)
			if err != nil {
				return 0, err
			}
			parts += inner
		}
		b = b[size:]
	}
	return parts, nil
}

// missing is a file that another imports, and that did not come yet; "": there is none.
func (c *collection) missing() (name, by string) {
	for ; c.next < len(c.list); c.next++ {
		for _, name := range c.list[c.next].GetDependency() {
			if c.files[name] == nil {
				return name, c.list[c.next].GetName()
			}
		}
	}
	return "", ""
}
