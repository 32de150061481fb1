package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WebSocket is one connection of WebSocket (RFC 6455), from its opening to its close. It is one request, and
// the messages that come are its events.
//
// +kubebuilder:validation:XValidation:rule="!has(self.until) || !has(self.messages)",message="at most one of until and messages must be set"
type WebSocket struct {
	// path is as in http.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^/[^\r\n\x00 ]*$`
	Path string `json:"path,omitempty"`

	// headers are sent to open it.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Headers []Header `json:"headers,omitempty"`

	// subprotocol is the one that the target must speak. Example: graphql-transport-ws.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern="^[-!#$%&'*+.^_`|~0-9A-Za-z]+$"
	Subprotocol string `json:"subprotocol,omitempty"`

	// send are the messages that are sent: text, and templates. Example: [hello].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Send []string `json:"send,omitempty"`

	// every is the time from one message that is sent to the next. Absent: each waits for a message that
	// comes after the one before.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && [duration('1ms'), duration(self), duration('10m')].isSorted()",message="every must be a time from 1ms to 10m, such as 100ms"
	Every *metav1.Duration `json:"every,omitempty"`

	// until is the last message that comes.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Until string `json:"until,omitempty"`

	// messages is how many messages are to come. Default, without until: as many as are sent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Messages int64 `json:"messages,omitempty"`

	// stall is the longest time between two messages that come, as in http.stream.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && [duration('1ms'), duration(self), duration('10m')].isSorted()",message="stall must be a time from 1ms to 10m, such as 5s"
	Stall *metav1.Duration `json:"stall,omitempty"`
}
