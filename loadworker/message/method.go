package message

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
)

// Method is a method of a service. It is safe for concurrent use.
type Method struct {
	name                       string
	request, reply             protoreflect.MessageDescriptor
	types                      *dynamicpb.Types
	takesStream, returnsStream bool
}

// TakesStream reports whether a call has any number of messages, instead of one.
func (m *Method) TakesStream() bool { return m.takesStream }

// ReturnsStream reports whether a call has any number of replies, instead of one.
func (m *Method) ReturnsStream() bool { return m.returnsStream }

// Name is that of its service and its own: shop.v1.Cart/Add.
func (m *Method) Name() string { return m.name }

// Path is that of the request of HTTP/2.
func (m *Method) Path() string { return "/" + m.name }

// Encode appends the message of a request, which is given as JSON.
func (m *Method) Encode(to, json []byte) ([]byte, error) {
	message := dynamicpb.NewMessage(m.request)
	if err := (protojson.UnmarshalOptions{Resolver: m.types}).Unmarshal(json, message); err != nil {
		return to, &Error{Type: string(m.request.FullName()), err: err}
	}
	// The same message has the same bytes, whatever maps it has.
	return proto.MarshalOptions{Deterministic: true}.MarshalAppend(to, message)
}

// Error is JSON that is no message of a type. Its text may show values of it; Hidden does not.
type Error struct {
	Type string
	err  error
}

func (e *Error) Error() string { return fmt.Sprintf("is not a %s: %s", e.Type, plain(e.err)) }

// IsUnknownField says that the type has no field of a name.
func (e *Error) IsUnknownField() bool { return strings.Contains(e.err.Error(), "unknown field") }

// named finds the field in an error of protobuf's library.
var named = regexp.MustCompile(`(?:invalid value for [a-z0-9]+ field|field) [A-Za-z0-9_.]+`)

// Hidden is the error without values.
func (e *Error) Hidden() error {
	if field := named.FindString(plain(e.err)); field != "" {
		return fmt.Errorf("is not a %s: %s", e.Type, field)
	}
	return fmt.Errorf("is not a %s", e.Type)
}

const (
	// MaxReply bounds a reply that is decoded: an empty message takes two bytes of it, and
	// some hundred in memory.
	MaxReply = 256 << 10
	// maxDepth is how deep the messages of a reply may be in one another: what other
	// implementations of protobuf take.
	maxDepth = 100
)

// Decode returns a reply as JSON, with the fields that have their default value, and what that
// takes of room: at least the size of the JSON, and something for each field of a type, whether or
// not it is in the JSON. It takes at most MaxJSON of it.
func (m *Method) Decode(reply []byte, room int) (json []byte, took int, err error) {
	if len(reply) > MaxReply {
		return nil, 0, fmt.Errorf("reply of %d bytes; the worker reads at most %d", len(reply), MaxReply)
	}
	message := dynamicpb.NewMessage(m.reply)
	if (proto.UnmarshalOptions{Resolver: m.types, RecursionLimit: maxDepth}).Unmarshal(reply, message) != nil {
		return nil, 0, m.undecodable(reply, errors.New("its bytes are not in protobuf's format"))
	}
	took, err = measure(message, m.types, min(room, MaxJSON))
	if err != nil {
		return nil, took, m.undecodable(reply, err)
	}
	json, err = protojson.MarshalOptions{Resolver: m.types, EmitDefaultValues: true}.Marshal(message)
	if err != nil {
		return nil, took, m.undecodable(reply, errNoForm)
	}
	return json, took, nil
}

func (m *Method) undecodable(reply []byte, why error) error {
	return failure.Withhold(reply, "the reply of %d bytes is not a %s: %w", len(reply), m.reply.FullName(), why)
}
