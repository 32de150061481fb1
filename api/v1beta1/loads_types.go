package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Load is one of the loads that a run sends side by side. It is carried out by a LoadTest of its own,
// which the operator creates, with workers of its own.
//
// +kubebuilder:validation:XValidation:rule="(has(self.ladder) ? 1 : 0) + (has(self.steps) ? 1 : 0) + (has(self.search) ? 1 : 0) == 1",message="exactly one of ladder, steps and search must be set in a load"
// +kubebuilder:validation:XValidation:rule="!has(self.after) || self.after != self.name",fieldPath=".after",message="after must be the name of another load"
// +kubebuilder:validation:XValidation:rule="!has(self.background) || !self.background || !has(self.search)",fieldPath=".background",reason="FieldValueForbidden",message="background must not be set with search, which looks for a load of its own"
type Load struct {
	// name identifies the load in reports and thresholds. Its LoadTest is called by the name of this
	// one, a hyphen and the name of the load. Example: readers.
	// +required
	// +kubebuilder:validation:MaxLength=30
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`

	// requests are the names of the requests that the load sends as its mix. Absent:
	// without journeys all, and with journeys none beside theirs.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=63
	Requests []string `json:"requests,omitempty"`

	// journeys are the names of the journeys that the load carries out. Absent: without
	// requests all, and with requests none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=63
	Journeys []string `json:"journeys,omitempty"`

	// ladder is as spec.ladder, of this load.
	// +optional
	Ladder *Ladder `json:"ladder,omitempty"`

	// steps are as spec.steps, of this load.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.exists(s, !has(s.pause))",message="steps must not all be pauses"
	Steps []Step `json:"steps,omitempty"`

	// search is as spec.search, of this load.
	// +optional
	Search *Search `json:"search,omitempty"`

	// parallelism is as spec.parallelism, of this load.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Parallelism *int32 `json:"parallelism,omitempty"`

	// after is the load, before this one in the list, at whose end this one begins. Absent: it
	// begins with the run.
	// +optional
	// +kubebuilder:validation:MaxLength=30
	After string `json:"after,omitempty"`

	// delay is how much later the load begins. Default: none. Example: 30s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && duration(self) <= duration('1h')",message="delay must be a time from 0s to 1h, such as 30s"
	Delay *metav1.Duration `json:"delay,omitempty"`

	// background ends the load when all loads without it have ended. What was measured is judged then,
	// but for rates and requests that were not due yet. Default false.
	// +optional
	Background bool `json:"background,omitempty"`
}

// LoadStatus is how far one of spec.loads is.
type LoadStatus struct {
	// name is the load.
	// +required
	// +kubebuilder:validation:MaxLength=30
	Name string `json:"name"`
	// test is the LoadTest that carries it out, in the same namespace: it has the load's results.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Test string `json:"test"`
	// uid is that of this LoadTest. Absent until it was created.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	UID string `json:"uid,omitempty"`
	// phase is that of this LoadTest.
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// beginTime is the instant at which the load's first step begins. Absent until all loads
	// are ready and the load that is named as after has ended.
	// +optional
	BeginTime *metav1.MicroTime `json:"beginTime,omitempty"`
	// completionTime is when the operator saw that the load had finished, in whatever way.
	// +optional
	CompletionTime *metav1.MicroTime `json:"completionTime,omitempty"`
	// verdict is that of the load. Absent while it is not finished.
	// +optional
	Verdict Verdict `json:"verdict,omitempty"`
	// message is the sentence behind the verdict.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
	// ended says that the run ended the load: it was in the background, or another load or the whole
	// run had ended. Only a breach of a threshold counts then.
	// +optional
	Ended bool `json:"ended,omitempty"`
	// result is what was measured in all of its steps. Absent until all loads have ended.
	// +optional
	Result *LoadResult `json:"result,omitempty"`
}

// LoadResult is what was measured in all steps of a load, or of all loads together: sums of counts,
// and times of all requests, warm-ups left out.
type LoadResult struct {
	// due is the number of requests that the schedules asked for.
	Due int64 `json:"due"`
	// sent is the number of requests that were sent.
	Sent int64 `json:"sent"`
	// unsent is the number of due requests that were never sent.
	Unsent int64 `json:"unsent"`
	// expected is the number of requests with an expected response.
	Expected int64 `json:"expected"`
	// failed is the number of requests without one.
	Failed int64 `json:"failed"`
	// undecided is the part of failed that had waited for less than their timeout when their step
	// ended: they may have failed or not. Absent: none.
	// +optional
	Undecided int64 `json:"undecided,omitempty"`
	// responseTime is measured from when a request was due. Absent without responses, and if a step lacks
	// its histogram: then the times of all requests are not known.
	// +optional
	ResponseTime *Latency `json:"responseTime,omitempty"`
}

// LackingLoads are the names of the loads that together does not have, though they had begun: their LoadTests were
// deleted, or cannot be read. What the run ended may not have been due yet, and is left out.
func (s *LoadTestStatus) LackingLoads() (names []string) {
	for i := range s.Loads {
		if l := &s.Loads[i]; s.Together != nil && l.BeginTime != nil && l.Result == nil && l.Verdict != VerdictCanceled {
			names = append(names, l.Name)
		}
	}
	return names
}
