package v1beta1

import apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

// TargetGRPC is what is known of the target's services of gRPC.
type TargetGRPC struct {
	// descriptorsFrom is a binary descriptor set of the services, such as protoc
	// --include_imports --descriptor_set_out writes. In a ConfigMap it is in binaryData.
	// Absent: the target is asked for it, by its reflection. Example: {configMap:
	// {name: shop-protos, key: shop.binpb}}.
	// +optional
	DescriptorsFrom *Content `json:"descriptorsFrom,omitempty"`
}

// Call is a call of gRPC. It is one request, whatever number of messages and replies it has:
// its latency ends with its status.
//
// +kubebuilder:validation:XValidation:rule="!has(self.message) || !has(self.messages)",message="at most one of message and messages must be set"
type Call struct {
	// method is the service with its package, and the method. It may return a stream, take
	// one, or both. Example: shop.v1.Cart/Add.
	// +required
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*/[A-Za-z_][A-Za-z0-9_]*$`
	Method string `json:"method"`

	// message is the message in protobuf's JSON, whose strings are templates; a number may
	// be written as a string. At most 65536 bytes. Absent: an empty message. Example:
	// {item: "book-${rand:1-99}", count: "${seq}"}.
	// +optional
	// +kubebuilder:validation:Type=object
	Message *apiextensionsv1.JSON `json:"message,omitempty"`

	// messages are the messages of a method that takes a stream, each as message is. They are sent
	// in their order, without waiting for replies, and end the stream. At most 65536 bytes
	// together. Example: [{item: book}, {item: pen}].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:Type=object
	Messages []apiextensionsv1.JSON `json:"messages,omitempty"`

	// compression compresses each message, and accepts replies that are compressed. Gzip is
	// the only one. Absent: neither.
	// +optional
	Compression Compression `json:"compression,omitempty"`

	// metadata are sent with the call, beside the headers of the target. A value of a name
	// that ends in -bin is in base64. Example: [{name: x-tenant, value: blue}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(m, !m.name.lowerAscii().startsWith('grpc-') && !(m.name.lowerAscii() in ['te', 'content-type', 'content-length', 'transfer-encoding', 'connection']))",message="metadata must not have names of HTTP or gRPC, such as content-type or grpc-timeout: they follow from the call"
	Metadata []Header `json:"metadata,omitempty"`
}

// metadata returns the metadata of a call; c may be nil.
func (c *Call) metadata() []Header {
	if c == nil {
		return nil
	}
	return c.Metadata
}

// Compression is how the messages of a call are compressed.
//
// +kubebuilder:validation:Enum=Gzip
type Compression string

// CompressionGzip is gzip (RFC 1952).
const CompressionGzip Compression = "Gzip"

// ReplyRange is the number of replies that are expected.
//
// +kubebuilder:validation:XValidation:rule="has(self.min) || has(self.max)",message="at least one of min and max must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.min) || !has(self.max) || self.min <= self.max",message="min must not be above max"
type ReplyRange struct {
	// min is the least number of replies. Default 0, and 1 with expect.json.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000
	Min *int64 `json:"min,omitempty"`

	// max is the largest number of replies. Absent: any number.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Max *int64 `json:"max,omitempty"`
}

// GRPCStatus is the name of a status of gRPC.
//
// +kubebuilder:validation:Enum=OK;CANCELLED;UNKNOWN;INVALID_ARGUMENT;DEADLINE_EXCEEDED;NOT_FOUND;ALREADY_EXISTS;PERMISSION_DENIED;RESOURCE_EXHAUSTED;FAILED_PRECONDITION;ABORTED;OUT_OF_RANGE;UNIMPLEMENTED;INTERNAL;UNAVAILABLE;DATA_LOSS;UNAUTHENTICATED
type GRPCStatus string
