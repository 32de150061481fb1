package targetaccess

import (
	"iter"
	"net/netip"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/instant"
)

// Access is what was read of where the targets of a run lead to, and what the workers are
// sent of it. A nil *Access knows nothing.
type Access struct {
	found           lifecycle.Access
	target, control reach
	others          []reach // which requests may name, in the order of spec.otherTargets
	// next is when it is read again, and nextGone when it is asked whether the Services are still
	// there.
	next, nextGone time.Time
	// unconfirmed are the addresses that no pod has, and since when; doubt is a sentence about the one that
	// has been there longest, since then.
	unconfirmed map[doubted]time.Time
	doubt       string
	since       time.Time
}

// doubted is an address to which the Service of a field sends.
type doubted struct {
	field   string
	address netip.Addr // however it is spelled
}

// reach is where the workers may connect to for one target.
type reach struct {
	field     string // of the spec, that names it
	place     policy.Place
	judgement policy.Judgement
	// sent is what workers were sent last; it does not change.
	sent *workerv1.Destinations
}

// Found returns what a decision needs of it.
func (a *Access) Found() *lifecycle.Access { return &a.found }

// keepSent keeps what the workers were sent last, so that the same is not sent again.
func (a *Access) keepSent(before *Access) {
	a.target.sent, a.control.sent = before.target.sent, before.control.sent
	for i := range min(len(a.others), len(before.others)) {
		a.others[i].sent = before.others[i].sent
	}
}

// reaches are those of the targets that a LoadTest has, each with what was allowed when its run
// began; nil: it has not begun.
func (a *Access) reaches(lt *v1beta1.LoadTest) iter.Seq2[*reach, *v1beta1.TargetAccess] {
	return func(yield func(*reach, *v1beta1.TargetAccess) bool) {
		internal := &lt.Status.Internal
		if !yield(&a.target, internal.Access) || lt.Spec.Control() != nil && !yield(&a.control, internal.ControlAccess) {
			return
		}
		for i := range a.others {
			var allowed *v1beta1.TargetAccess
			if i < len(internal.OtherAccess) {
				allowed = &internal.OtherAccess[i]
			}
			if !yield(&a.others[i], allowed) {
				return
			}
		}
	}
}

// gone notes why a Service is not the one that was allowed any more; empty: it is.
func (a *Access) gone(to *reach, why string) {
	if why != "" && a.found.Gone == "" {
		a.found.Gone = to.field + ": " + why
	}
}

// confirm has an endpoint that no pod has keep a run from beginning, and end one that is
// under way if it stays, whatever else comes and goes and whatever pod it is said to be of.
func (a *Access) confirm(underway bool, now time.Time) {
	if a.doubt == "" {
		return
	}
	a.next = instant.Earlier(a.next, now.Add(podsEvery))
	switch {
	case !underway && a.found.Problem == "":
		a.found.Problem = a.doubt
	case underway && now.Sub(a.since) >= unconfirmedFor && a.found.Refusal == "":
		a.found.Refusal = a.doubt
	}
}

// interval is how long what was read of a place holds.
func interval(to *reach) time.Duration {
	switch {
	case to.judgement.Problem != "" && len(to.judgement.Allowed) == 0: // it is not known
		return podsEvery
	case to.judgement.Pods:
		return podsEvery + time.Duration(len(to.judgement.Allowed))*eachPod
	case to.place.IsService():
		return addressEvery
	}
	return hostEvery
}

// granted is what stands in the status of what was judged.
func (to *reach) granted() *v1beta1.TargetAccess {
	a := &v1beta1.TargetAccess{Name: to.place.Name, ServiceUID: to.judgement.UID, Pods: to.judgement.Pods}
	if a.Pods {
		return a
	}
	for _, d := range to.judgement.Allowed {
		ranged := v1beta1.AllowedAddresses{Port: int32(d.Port)}
		if d.Range.IsValid() {
			ranged.Range = d.Range.String()
		}
		a.Allowed = append(a.Allowed, ranged)
	}
	return a
}
