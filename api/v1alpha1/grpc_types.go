package v1alpha1

import apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

// TargetGRPC is what is known of the target's services of gRPC.
type TargetGRPC struct {
	// descriptorsFrom is a binary descriptor set of the services (FileDescriptorSet), such
	// as protoc --include_imports --descriptor_set_out writes. In a ConfigMap it is in
	// binaryData. Example: {configMapKeyRef: {name: shop-protos, key: shop.binpb}}.
	// +required
	DescriptorsFrom KeySource `json:"descriptorsFrom"`
}

// Call is a unary call of gRPC, which has one message and one reply.
type Call struct {
	// method is the service with its package, and the method. Example: shop.v1.Cart/Add.
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

	// metadata are sent with the call, beside the headers of the target. A value of a name
	// that ends in -bin is in base64. Example: [{name: x-tenant, value: blue}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(m, !m.name.lowerAscii().startsWith('grpc-') && !(m.name.lowerAscii() in ['te', 'content-type', 'content-length', 'transfer-encoding', 'connection']))",message="metadata must not have names of HTTP or gRPC, such as content-type or grpc-timeout: they follow from the call"
	Metadata []Header `json:"metadata,omitempty"`
}

// GRPCStatus is the name of a status of gRPC.
//
// +kubebuilder:validation:Enum=OK;CANCELLED;UNKNOWN;INVALID_ARGUMENT;DEADLINE_EXCEEDED;NOT_FOUND;ALREADY_EXISTS;PERMISSION_DENIED;RESOURCE_EXHAUSTED;FAILED_PRECONDITION;ABORTED;OUT_OF_RANGE;UNIMPLEMENTED;INTERNAL;UNAVAILABLE;DATA_LOSS;UNAUTHENTICATED
type GRPCStatus string
