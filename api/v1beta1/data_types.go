package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Data is a table. Its rows are split between the workers: worker w of W has the
// rows w, w+W, w+2W, ….
type Data struct {
	// name identifies the table in messages.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// from is where the rows stand. Example: {configMap: {name: rows, key: users.csv}}.
	// +required
	From Content `json:"from"`

	// format is how the rows are written: CSV, with the names of the columns in the first line,
	// or JSONLines, with an object in each line.
	// +required
	Format DataFormat `json:"format"`

	// choice is which row a request takes. Default Uniform.
	// +optional
	Choice DataChoice `json:"choice,omitempty"`
}

// DataFormat is how rows are written.
//
// +kubebuilder:validation:Enum=CSV;JSONLines
type DataFormat string

const (
	// DataFormatCSV has the names of the columns in its first line.
	DataFormatCSV DataFormat = "CSV"
	// DataFormatJSONLines has an object of scalars on each line.
	DataFormatJSONLines DataFormat = "JSONLines"
)

// DataChoice is which row a request takes.
//
// +kubebuilder:validation:Enum=Uniform;Sequential;Zipf
type DataChoice string

const (
	// DataChoiceUniform takes any of the worker's rows, each as often.
	DataChoiceUniform DataChoice = "Uniform"
	// DataChoiceSequential takes the worker's rows in turn, and begins anew after
	// the last.
	DataChoiceSequential DataChoice = "Sequential"
	// DataChoiceZipf takes the worker's first rows more often than its last, by
	// Zipf's law: what is popular is very popular.
	DataChoiceZipf DataChoice = "Zipf"
)

// Setup is what the workers send before they are ready. The administrator's limit of users holds for
// their connections: up to 16 of each worker to fill, and up to 64 to warm up.
type Setup struct {
	// fill sends a request many times, and captures values of the responses as data.
	// It comes first. Example: {request: create, count: 5000, capture: {code: .code}}.
	// +optional
	Fill *Fill `json:"fill,omitempty"`

	// warmUp sends a request for a while, to fill caches and connection pools. It
	// comes after fill.
	// +optional
	WarmUp *WarmUp `json:"warmUp,omitempty"`
}

// Fill sends a request many times, and keeps what the responses say.
type Fill struct {
	// request is the name of the request that is sent. A response that it does not
	// expect ends the run, but after 502, 503 or 504 it is sent again.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Request string `json:"request"`

	// count is the number of times that it is sent, in total over all workers.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	Count int32 `json:"count"`

	// capture maps names of columns to paths of values in each JSON response. Each
	// worker uses the rows that it captured. Absent: nothing is captured. Example:
	// {code: .code}.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(c, c.matches('^[A-Za-z_][A-Za-z0-9_]{0,62}$') && !(c in ['user', 'seq', 'worker', 'uuid', 'rand']))",message="capture must have names of columns such as code, but not user, seq, worker, uuid or rand"
	Capture map[string]JSONPath `json:"capture,omitempty"`

	// choice is which captured row a request takes. Default Uniform.
	// +optional
	// +kubebuilder:default=Uniform
	Choice DataChoice `json:"choice,omitempty"`
}

// WarmUp sends a request as fast as replies come, over as many connections as
// the first step has users, at most 64 for each worker.
type WarmUp struct {
	// request is the name of the request that is sent. Its responses are ignored.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Request string `json:"request"`

	// duration is how long the request is sent. Example: 5s.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && [duration('1ms'), duration(self), duration('1h')].isSorted()",message="duration must be a time from 1ms to 1h, such as 5s"
	Duration metav1.Duration `json:"duration"`
}
