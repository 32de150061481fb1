package loadtest

import (
	"context"
	"net/netip"
	"net/url"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// access is what was read last of where the targets of a run lead to.
type access struct {
	found           lifecycle.Access
	target, control reach
	// next is when it is read again.
	next time.Time
	// unconfirmed is an endpoint that no pod has, and since when.
	unconfirmed string
	since       time.Time
}

// reach is where the workers may connect to for one target.
type reach struct {
	place     policy.Place
	judgement policy.Judgement
	// sent is what workers were sent last; it does not change.
	sent *workerv1.Destinations
}

const (
	// accessTimeout bounds a reading.
	accessTimeout = 5 * time.Second
	// addressEvery is how often a Service with an address of its own is read again: who
	// may write EndpointSlices could have it lead elsewhere after the run began.
	addressEvery = 30 * time.Second
	// podsEvery is the same for one whose pods are connected to, which a rolling restart
	// replaces, and eachPod is added for each of them: a reading costs the more.
	podsEvery, eachPod = 3 * time.Second, 20 * time.Millisecond
	// hostEvery is the same for a host, of which only the addresses of the cluster are
	// read that it may not lead to: those of nodes and of the operator's pods change.
	hostEvery = time.Minute
	// unconfirmedFor is how long a Service may have an endpoint that no pod has: its
	// EndpointSlices follow its pods within seconds.
	unconfirmedFor = 15 * time.Second
)

// observeAccess is where the targets lead to, read when it has to be. A run that is under
// way goes on with what was read before while the API server fails.
func (r *Reconciler) observeAccess(ctx context.Context, lt *v1alpha1.LoadTest, rules policy.Targets, note *note, now time.Time) (*lifecycle.Access, error) {
	target, control := targetURLs(lt)
	if !r.ChecksTargets || !lifecycle.NeedsAccess(lt) || target == "" || control == "" && lt.Spec.Versus != nil {
		return nil, nil
	}
	held := note.access
	if held != nil && lt.Status.HasAccess() && now.Before(held.next) {
		return &held.found, nil
	}
	ctx, cancel := context.WithTimeout(ctx, accessTimeout)
	defer cancel()
	read, err := r.readAccess(ctx, lt, rules, held, now)
	switch {
	case err == nil:
		note.access = read
		return &read.found, nil
	case held != nil && lt.Status.HasAccess():
		held.next = now.Add(podsEvery)
		return &held.found, nil
	}
	return nil, err
}

func (r *Reconciler) readAccess(ctx context.Context, lt *v1alpha1.LoadTest, rules policy.Targets, before *access, now time.Time) (*access, error) {
	x := &access{next: now.Add(hostEvery)}
	if before != nil {
		x.target.sent, x.control.sent = before.target.sent, before.control.sent
	}
	var err error
	target, control := targetURLs(lt)
	if x.found.Target, err = r.readTargetAccess(ctx, rules, "spec.target", target, &lt.Spec.Target, x, &x.target, now); err != nil {
		return nil, err
	}
	if v := lt.Spec.Versus; v != nil {
		if x.found.Control, err = r.readTargetAccess(ctx, rules, "spec.versus.target", control, &v.Target, x, &x.control, now); err != nil {
			return nil, err
		}
	}
	x.confirm(before, lt.Status.HasAccess(), now)
	return x, nil
}

// targetURLs are those of the status, or what they will be.
func targetURLs(lt *v1alpha1.LoadTest) (target, control string) {
	if lt.Status.StartTime == nil {
		return plan.TargetURLs(lt)
	}
	if lt.Status.Versus != nil {
		control = lt.Status.Versus.TargetURL
	}
	return lt.Status.TargetURL, control
}

// readTargetAccess reads where one target leads to, and its proxy: what is connected to.
func (r *Reconciler) readTargetAccess(ctx context.Context, rules policy.Targets, field, at string, t *v1alpha1.Target, x *access, to *reach, now time.Time) (*v1alpha1.TargetAccess, error) {
	if err := r.judge(ctx, rules, field, at, false, x, to, now); err != nil {
		return nil, err
	}
	if t.Proxy != nil {
		if err := r.judge(ctx, rules, field+".proxy", t.Proxy.URL, true, x, to, now); err != nil {
			return nil, err
		}
	}
	return to.access(), nil
}

// judge decides on where a URL leads to by what is read of it.
func (r *Reconciler) judge(ctx context.Context, rules policy.Targets, field, at string, isProxy bool, x *access, to *reach, now time.Time) error {
	u, err := url.Parse(at)
	if err != nil || u.Hostname() == "" {
		return nil // the spec is refused
	}
	to.place = rules.Place(u)
	to.place.IsProxy = isProxy
	facts, err := r.facts(ctx, to.place, now)
	if err != nil {
		return err
	}
	to.judgement = rules.Judge(to.place, facts)
	name := func(sentence string) string { return field + ": " + sentence }
	switch j := to.judgement; {
	case j.Refusal != "" && x.found.Refusal == "":
		x.found.Refusal = name(j.Refusal)
	case j.Problem != "" && x.found.Problem == "":
		x.found.Problem = name(j.Problem)
	}
	if u := rules.Unconfirmed(to.place, facts); u != "" && x.unconfirmed == "" {
		x.unconfirmed = name(u)
	}
	x.next = earliest(x.next, now.Add(interval(to)))
	return nil
}

// interval is how long what was read of a place holds.
func interval(to *reach) time.Duration {
	switch {
	case to.judgement.Pods:
		return podsEvery + time.Duration(len(to.judgement.Allowed))*eachPod
	case to.place.IsService():
		return addressEvery
	}
	return hostEvery
}

// confirm has an endpoint that no pod has keep a run from beginning, and end one that is
// under way if it stays.
func (x *access) confirm(before *access, underway bool, now time.Time) {
	if x.unconfirmed == "" {
		return
	}
	if x.since = now; before != nil && before.unconfirmed == x.unconfirmed {
		x.since = before.since
	}
	x.next = earliest(x.next, now.Add(podsEvery))
	switch {
	case !underway && x.found.Problem == "":
		x.found.Problem = x.unconfirmed
	case underway && now.Sub(x.since) >= unconfirmedFor && x.found.Refusal == "":
		x.found.Refusal = x.unconfirmed
	}
}

// access is what stands in the status of what was judged.
func (to *reach) access() *v1alpha1.TargetAccess {
	a := &v1alpha1.TargetAccess{Name: to.place.Name, Pods: to.judgement.Pods}
	if a.Pods {
		return a
	}
	for _, d := range to.judgement.Allowed {
		ranged := v1alpha1.AllowedAddresses{Port: int32(d.Port)}
		if d.Range.IsValid() {
			ranged.Range = d.Range.String()
		}
		a.Allowed = append(a.Allowed, ranged)
	}
	return a
}

// sent is where connections to the targets may go to; nil: it was not read.
func (x *access) sent() (target, control *workerv1.Destinations) {
	if x == nil {
		return nil, nil
	}
	return x.target.sent, x.control.sent
}

// send makes what the workers are sent, and says whether it is known for each target.
func (x *access) send(lt *v1alpha1.LoadTest) (known bool) {
	if x == nil || !lt.Status.HasAccess() {
		return false
	}
	x.target.send(lt.Status.Access)
	if lt.Status.Versus == nil {
		return x.target.sent != nil
	}
	x.control.send(lt.Status.Versus.Access)
	return x.target.sent != nil && x.control.sent != nil
}

// send makes what the workers are sent: what was allowed when the run began, or pods as
// they are now. Without the addresses that no host may lead to, nothing is sent.
func (to *reach) send(a *v1alpha1.TargetAccess) {
	j := &to.judgement
	if a == nil || j.Problem != "" && !to.place.IsService() {
		return
	}
	d := &workerv1.Destinations{}
	for _, allowed := range a.Allowed {
		d.Allowed = append(d.Allowed, &workerv1.Destination{Range: allowed.Range, Port: uint32(allowed.Port)})
	}
	if a.Pods {
		for _, pod := range j.Allowed {
			d.Allowed = append(d.Allowed, &workerv1.Destination{Range: pod.Range.String(), Port: uint32(pod.Port), Pod: true})
		}
	}
	for _, p := range j.Denied {
		if overlaps(p, a, j.Allowed) {
			d.Denied = append(d.Denied, p.String())
		}
	}
	if !proto.Equal(d, to.sent) {
		to.sent = d
	}
}

// overlaps says whether any address of a range could be connected to at all, so that it is
// worth telling the workers.
func overlaps(p netip.Prefix, a *v1alpha1.TargetAccess, pods []address.Destination) bool {
	for _, allowed := range a.Allowed {
		if allowed.Range == "" && (p.Bits() < p.Addr().BitLen() || address.IsPublic(p.Addr())) {
			return true
		}
		if r, err := netip.ParsePrefix(allowed.Range); err == nil && r.Overlaps(p) {
			return true
		}
	}
	for _, d := range pods {
		if a.Pods && d.Range.Overlaps(p) {
			return true
		}
	}
	return false
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
