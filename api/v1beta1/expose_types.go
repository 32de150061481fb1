package v1beta1

// Exposure is what of the traffic may be quoted where others can read it.
//
// +kubebuilder:validation:Enum=None;Responses
type Exposure string

const (
	// ExposeNone has messages say what is wrong by status code, path in the body, type and
	// size, and quote nothing.
	ExposeNone Exposure = "None"
	// ExposeResponses has messages also quote the first 80 bytes of what a target, or a
	// proxy, sent: a value of a body, a body, or a malformed line. It may be a token,
	// and can be read by all who may read LoadTests, Events or the logs of workers.
	ExposeResponses Exposure = "Responses"
)
