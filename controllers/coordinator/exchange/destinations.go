package exchange

import (
	"slices"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// Destinations are where the workers of a run may connect to, for each target. Others has one for
// each of spec.otherTargets, in their order. What they point to does not change.
type Destinations struct {
	Target, Control *workerv1.Destinations
	Others          []*workerv1.Destinations
}

// DestinationsOf reads the destinations of an assignment.
func DestinationsOf(a *workerv1.Assignment) Destinations {
	d := Destinations{Target: a.GetTarget().GetDestinations(), Control: a.GetControl().GetTarget().GetDestinations()}
	for _, t := range a.GetOtherTargets() {
		d.Others = append(d.Others, t.GetDestinations())
	}
	return d
}

// Set writes them to an assignment.
func (d Destinations) Set(a *workerv1.Assignment) {
	a.Target.Destinations = d.Target
	if a.GetControl() != nil {
		a.Control.Target.Destinations = d.Control
	}
	for i := range min(len(d.Others), len(a.GetOtherTargets())) {
		a.OtherTargets[i].Destinations = d.Others[i]
	}
}

// Same says whether they are the same ones. They are compared by identity.
func (d Destinations) Same(other Destinations) bool {
	return d.Target == other.Target && d.Control == other.Control && slices.Equal(d.Others, other.Others)
}
