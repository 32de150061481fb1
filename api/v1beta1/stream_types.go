package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Stream is how a response that comes in parts is read.
type Stream struct {
	// events is what its events are: SSE, server-sent events with data; Lines, lines that are not blank;
	// or Chunks, chunks of HTTP/1.1 and frames of HTTP/2.
	// +required
	Events StreamEvents `json:"events"`

	// until is the data of the last event: a stream that ends without it counts as endedEarly.
	// Absent: any event may be the last. Example: "[DONE]".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Until string `json:"until,omitempty"`

	// stall is the longest time between two events: after it, the stream is given up, and counts as
	// stalled. Absent: any, within timeout. Example: 5s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && [duration('1ms'), duration(self), duration('10m')].isSorted()",message="stall must be a time from 1ms to 10m, such as 5s"
	Stall *metav1.Duration `json:"stall,omitempty"`

	// tokens is where the last event, or the one before until, says how many tokens a language model read
	// and wrote. Example: {input: .usage.prompt_tokens, output: .usage.completion_tokens}.
	// +optional
	Tokens *StreamTokens `json:"tokens,omitempty"`
}

// StreamTokens is where an event has numbers of tokens.
//
// +kubebuilder:validation:MinProperties=1
type StreamTokens struct {
	// input is the path of the number of tokens of the prompt.
	// +optional
	Input JSONPath `json:"input,omitempty"`

	// output is the path of the number of tokens of the answer.
	// +optional
	Output JSONPath `json:"output,omitempty"`
}

// StreamEvents is what the events of a stream are.
//
// +kubebuilder:validation:Enum=SSE;Lines;Chunks
type StreamEvents string

const (
	// StreamSSE are server-sent events (text/event-stream of the HTML standard) that have data.
	StreamSSE StreamEvents = "SSE"
	// StreamLines are lines that are not blank, such as JSON objects that stand on a line each.
	StreamLines StreamEvents = "Lines"
	// StreamChunks are the chunks of HTTP/1.1, or the frames of DATA of HTTP/2.
	StreamChunks StreamEvents = "Chunks"
)

// StreamsResult are the events of streams.
type StreamsResult struct {
	// events is the number of events that came.
	Events int64 `json:"events"`
	// eventsPerSecond is events per second of the window, of all streams together.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	EventsPerSecond string `json:"eventsPerSecond,omitempty"`
	// tokens are those that streams which succeeded within the window said that they had. Absent unless http.stream.tokens is set.
	// +optional
	Tokens *TokensResult `json:"tokens,omitempty"`
	// onTime are the streams that kept a goal of a threshold, which has firstEvent or meanGap.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	OnTime []StreamsOnTime `json:"onTime,omitempty"`
	// firstEvent is the time from when a request was due to its first event.
	// +optional
	FirstEvent *EventTimes `json:"firstEvent,omitempty"`
	// betweenEvents is the time between each two events of a stream.
	// +optional
	BetweenEvents *EventTimes `json:"betweenEvents,omitempty"`
	// longestGap is the longest time between two events, of each stream.
	// +optional
	LongestGap *EventTimes `json:"longestGap,omitempty"`
	// meanGap is the mean time between two events, of each stream; with http.stream.tokens, the time per output
	// token.
	// +optional
	MeanGap *EventTimes `json:"meanGap,omitempty"`
}

// EventTimes is a distribution of times of events. A quantile with too few samples behind it is left out.
type EventTimes struct {
	// samples is the number of times.
	Samples int64 `json:"samples"`
	// mean is the arithmetic mean.
	// +optional
	Mean *metav1.Duration `json:"mean,omitempty"`
	// p50 is the median.
	// +optional
	P50 *metav1.Duration `json:"p50,omitempty"`
	// p95 is the 95th percentile.
	// +optional
	P95 *metav1.Duration `json:"p95,omitempty"`
	// p99 is the 99th percentile.
	// +optional
	P99 *metav1.Duration `json:"p99,omitempty"`
	// longest is the longest time.
	// +optional
	Longest *metav1.Duration `json:"longest,omitempty"`
}

// TokensResult is how many tokens the streams had that succeeded within the window.
type TokensResult struct {
	// streams is the number of them that said so.
	Streams int64 `json:"streams"`
	// input is the number of tokens of their prompts.
	// +optional
	Input int64 `json:"input,omitempty"`
	// output is the number of tokens of their answers.
	// +optional
	Output int64 `json:"output,omitempty"`
	// outputPerSecond is output per second of the window.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	OutputPerSecond string `json:"outputPerSecond,omitempty"`
}

// StreamsOnTime is the number of streams that kept a goal.
type StreamsOnTime struct {
	// within is that of the threshold.
	// +optional
	Within *metav1.Duration `json:"within,omitempty"`
	// firstEvent is that of the threshold.
	// +optional
	FirstEvent *metav1.Duration `json:"firstEvent,omitempty"`
	// meanGap is that of the threshold.
	// +optional
	MeanGap *metav1.Duration `json:"meanGap,omitempty"`
	// requests is the number of requests that succeeded and kept it.
	Requests int64 `json:"requests"`
	// withoutGenerator is the number that would have, had the generator been steady. Absent where it equals
	// requests.
	// +optional
	WithoutGenerator *int64 `json:"withoutGenerator,omitempty"`
}
