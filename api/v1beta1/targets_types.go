package v1beta1

// Targets is a targets file as vegeta reads it: requests that are sent in turn.
type Targets struct {
	// from is where the file stands. Example: {configMap: {name: replay, key: targets.txt}}.
	// +required
	From Content `json:"from"`

	// format is how the file is written. In both, a URL must be a path, or have the
	// scheme and host of spec.target, and a body must be in the file. Default HTTP.
	// +optional
	Format TargetsFormat `json:"format,omitempty"`
}

// TargetsFormat is one of vegeta's formats of targets.
//
// +kubebuilder:validation:Enum=HTTP;JSON
type TargetsFormat string

const (
	// TargetsFormatHTTP has a method and a URL on a line, and headers on those after it.
	TargetsFormatHTTP TargetsFormat = "HTTP"
	// TargetsFormatJSON has an object on each line, with method, url, header, and body
	// in base64.
	TargetsFormatJSON TargetsFormat = "JSON"
)
