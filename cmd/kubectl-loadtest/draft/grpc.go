package draft

import (
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// maxMethod is the longest name of a method with its service.
const maxMethod = 512

// call is a call of gRPC.
type call struct {
	// method is the service with its package, and the method: shop.v1.Cart/Add.
	method string
	// takesStream has the message written as a stream of one.
	takesStream bool
	input       protoreflect.MessageDescriptor
	message     *yaml.Node
}

// FromGRPC makes a request of each method of services, with a message that has the fields of
// its type. Descriptors may come from anywhere: of what is named in them, only names of
// protobuf are written, which are letters, digits and underscores.
func FromGRPC(services []protoreflect.ServiceDescriptor) (*Draft, error) {
	d := &Draft{Source: "a server's reflection", HTTP2: true}
	leftOut := 0
	for _, s := range services {
		for i := range s.Methods().Len() {
			m := s.Methods().Get(i)
			r := newCall(m, len(services) > 1)
			if isDeprecated(m) || len(r.call.method) > maxMethod || !isObject(m.Input()) {
				leftOut++
				continue
			}
			d.Requests = append(d.Requests, r)
		}
	}
	if leftOut > 0 {
		d.Remarks = append(d.Remarks, fmt.Sprintf("Left out: %d methods that are deprecated, have names of more than %d bytes, or take a message", leftOut, maxMethod),
			"whose JSON is not an object.")
	}
	if len(d.Requests) == 0 {
		return nil, fmt.Errorf("the server's services have no methods that can be called; left out are %d that are deprecated, have names of more than %d bytes, or take a message whose JSON is not an object", leftOut, maxMethod)
	}
	d.limit() // before messages are made, which may be large
	for i := range d.Requests {
		d.Requests[i].makeMessage()
	}
	d.Remarks = append(d.Remarks, "Messages are made up from the types of the server: look at each. Methods that delete, by their",
		"names, have weight 0: they are not sent. A status other than OK has failed, unless the request",
		"has it in expect: {grpcStatus: [OK, NOT_FOUND]}. The workers ask the server's reflection, too.")
	return d, nil
}

// newCall is a request without its message. Its name has that of the service if there are
// several.
func newCall(m protoreflect.MethodDescriptor, several bool) Request {
	service, name := m.Parent(), string(m.Name())
	r := Request{Name: name, Weight: callWeight(m), call: &call{
		method: string(service.FullName()) + "/" + name, takesStream: m.IsStreamingClient(), input: m.Input(),
	}}
	if several {
		r.Name = string(service.Name()) + "/" + name
	}
	switch {
	case m.IsStreamingClient() && m.IsStreamingServer():
		r.Remark = "It takes a stream of messages, and returns one of replies."
	case m.IsStreamingClient():
		r.Remark = "It takes a stream of messages."
	case m.IsStreamingServer():
		r.Remark = "It returns a stream of replies."
	}
	return r
}

// firstWord is the verb of a method, if it is named as is usual.
var firstWord = regexp.MustCompile(`^(?:Batch)?([A-Z][a-z]*)`)

// What a method does, by its verb.
var (
	readVerbs   = []string{"Get", "List", "Find", "Search", "Read", "Count", "Lookup", "Describe"}
	deleteVerbs = []string{"Delete", "Remove", "Purge", "Drop", "Destroy"}
)

func callWeight(m protoreflect.MethodDescriptor) int {
	verb := ""
	if found := firstWord.FindStringSubmatch(string(m.Name())); found != nil {
		verb = found[1]
	}
	options, _ := m.Options().(*descriptorpb.MethodOptions)
	switch {
	case options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS, slices.Contains(readVerbs, verb):
		return readWeight
	case slices.Contains(deleteVerbs, verb):
		return 0
	}
	return writeWeight
}

func (r *Request) makeMessage() {
	m := &messageMaker{left: maxMessage}
	message, ok := m.wellKnown(r.call.input, "text")
	if !ok {
		message = m.message(r.call.input)
	}
	r.call.message = message
	if m.cut {
		r.Remark = join(r.Remark, "Fields of its message that are deep within others, or too many, are left out.")
	}
}

// isObject says whether the JSON of a message is an object, as that of a call is.
func isObject(d protoreflect.MessageDescriptor) bool {
	value, ok := (&messageMaker{}).wellKnown(d, "")
	return !ok || value != nil && value.Kind == yaml.MappingNode
}

// node is the call in a request.
func (c *call) node() *yaml.Node {
	fields := []pair{field("method", scalar(c.method))}
	switch {
	case c.takesStream:
		fields = append(fields, field("messages", list(c.message)))
	case len(c.message.Content) > 0:
		fields = append(fields, field("message", c.message))
	}
	return object(fields...)
}

// isDeprecated says whether a method or a field is to be used no more.
func isDeprecated(d protoreflect.Descriptor) bool {
	options, ok := d.Options().(interface{ GetDeprecated() bool })
	return ok && options.GetDeprecated()
}
