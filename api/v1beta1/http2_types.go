package v1beta1

// HTTP2 is how requests share connections of HTTP/2. Those of a step with a rate do; a user
// has a connection of its own.
type HTTP2 struct {
	// connections is the number of connections that the requests of a step with a rate share, in all
	// workers together; each worker has at least one. A request that finds no room on them
	// waits, which counts into its response time. Default: one for each worker. Example: 8.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	Connections *int32 `json:"connections,omitempty"`

	// streamsPerConnection is the number of requests that may be in flight on each of these
	// connections, if the server permits as many (SETTINGS_MAX_CONCURRENT_STREAMS).
	// Default: as many as the server permits, and at most 1000. Example: 16.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	StreamsPerConnection *int32 `json:"streamsPerConnection,omitempty"`
}
