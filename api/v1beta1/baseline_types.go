package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Baseline is what was measured earlier, with which this run is compared.
//
// +kubebuilder:validation:XValidation:rule="[has(self.name), has(self.schedule), has(self.selector)].exists_one(set, set)",message="exactly one of name, schedule and selector must be set"
type Baseline struct {
	// name is the name of another LoadTest of the namespace, Passed or Failed, which sent the
	// same requests from the same number of workers. Steps of it that broke default thresholds
	// are not used. This run waits for it, at most startDeadlineSeconds, and does not need it
	// once its steps begin.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=52
	Name string `json:"name,omitempty"`
	// schedule is the name of a LoadTestSchedule of the namespace: each metric is compared with
	// its level, which the newest 60 LoadTests of the schedule that passed have had since the
	// level changed. At least 3 are needed.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=41
	Schedule string `json:"schedule,omitempty"`
	// selector are labels of LoadTests of the namespace; of those with all of them, the one that
	// passed last is the baseline.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=8
	Selector map[string]LabelValue `json:"selector,omitempty"`
	// optional lets a run begin without a baseline, and pass without the steps that the
	// baseline does not have: the other thresholds decide, and the verdict says so.
	// +optional
	Optional bool `json:"optional,omitempty"`
}

// Labels returns selector with plain strings as values.
func (b *Baseline) Labels() map[string]string {
	list := map[string]string{}
	for key, value := range b.Selector {
		list[key] = string(value)
	}
	return list
}

// BaselineStatus is what was copied of the LoadTests of spec.baseline.
type BaselineStatus struct {
	// name is the name of the LoadTest, of a schedule the newest.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// missing is why nothing was copied.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Missing string `json:"missing,omitempty"`
	// uid is the UID of the LoadTest: another one may have its name now.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	UID string `json:"uid,omitempty"`
	// verdict is its verdict.
	// +optional
	Verdict Verdict `json:"verdict,omitempty"`
	// completionTime is when it finished.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// schedule is that of spec.baseline.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Schedule string `json:"schedule,omitempty"`
	// steps are the steps of it that have the name and the load of a step of this run, in
	// all repetitions, and that ran with all workers and the planned load. Of a schedule, a run
	// has one for each rung, with the figures that belong to the level.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	Steps []BaselineStep `json:"steps,omitempty"`
}

// BaselineStep is a step of the baseline, and what was measured in it.
type BaselineStep struct {
	// name is the step's name in the baseline.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// rung is the rung of this run's step with the same name and load.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=128
	Rung int32 `json:"rung"`
	// repetition is which of the baseline's repetitions the figures are of, from 1.
	// Absent when there was but one.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Repetition int32 `json:"repetition,omitempty"`
	// run is the name of the LoadTest, of a schedule.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Run string `json:"run,omitempty"`
	// sent is the number of requests that were sent.
	Sent int64 `json:"sent"`
	// figures are the step's values of all metrics that it has, and those by type that
	// spec.thresholds name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=96
	Figures []Figure `json:"figures,omitempty"`
}

// Figure is the value of a metric in a step.
type Figure struct {
	// metric is the quantity.
	// +required
	Metric Metric `json:"metric"`
	// type is the type of request that the figure is of. Absent: all requests, or one.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Type string `json:"type,omitempty"`
	// request is the name of the request that the figure is of. Absent: it is of several.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Request string `json:"request,omitempty"`
	// value is written as bounds are: 41.2ms, 0.03%, 9998.3.
	// +required
	// +kubebuilder:validation:MaxLength=32
	Value string `json:"value"`
	// withoutGenerator is the value without the generator's own delay, and of failureRate
	// without what is undecided. Absent where it equals value.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	WithoutGenerator string `json:"withoutGenerator,omitempty"`
	// withUntimed is the value of a percentile if the requests that were not sent or not
	// answered had taken longer than all others. Absent where it equals value.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	WithUntimed string `json:"withUntimed,omitempty"`
	// lateTogether is by how much longer a time may be since requests that were sent late came
	// to the target together. Absent: by nothing, or it is not known.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	LateTogether string `json:"lateTogether,omitempty"`
}
