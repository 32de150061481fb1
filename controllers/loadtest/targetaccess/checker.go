package targetaccess

import (
	"context"
	"net/netip"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/instant"
)

// Own is where the operator itself runs.
type Own struct {
	Namespace string
	Addresses []netip.Addr
}

// Checker reads where the targets of runs lead to, and judges it. It is safe for use by many
// goroutines; its fields are set before it is used. A nil *Checker reads nothing.
type Checker struct {
	// Reader reads past the cache, which has nothing of targets.
	Reader client.Reader
	// Own is where the operator runs, which no LoadTest may target.
	Own Own

	clusterAddresses clusterAddresses
}

const (
	// accessTimeout bounds a reading.
	accessTimeout = 5 * time.Second
	// addressEvery is how often a Service with an address of its own is read again: who
	// may write EndpointSlices could have it lead elsewhere after the run began.
	addressEvery = 30 * time.Second
	// serviceEvery is how often it is asked whether a Service is still the one that was allowed,
	// however many pods are behind it: its address may be given to another.
	serviceEvery = 10 * time.Second
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

// Observe returns where the targets of a run lead to, read anew when it has to be; held is
// what it returned last for the run, which it may change. nil: it need not be known. A run
// that is under way goes on with what was read before while the API server fails.
func (c *Checker) Observe(ctx context.Context, lt *v1beta1.LoadTest, rules policy.Targets, held *Access, now time.Time) (*Access, error) {
	target, control := targetURLs(lt)
	if c == nil || !lifecycle.NeedsAccess(lt) || target == "" || control == "" && lt.Spec.Versus != nil {
		return nil, nil
	}
	isHeld := held != nil && lt.Status.HasAccess() && now.Before(held.next)
	if isHeld && now.Before(held.nextGone) {
		return held, nil
	}
	ctx, cancel := context.WithTimeout(ctx, accessTimeout)
	defer cancel()
	if isHeld {
		c.lookWhetherGone(ctx, lt, rules, held, now)
		return held, nil
	}
	read, err := c.read(ctx, lt, rules, held, now)
	switch {
	case err == nil:
		return read, nil
	case held != nil && lt.Status.HasAccess():
		held.next = now.Add(podsEvery)
		return held, nil
	}
	return nil, err
}

// targetURLs are those of the status, or what they will be.
func targetURLs(lt *v1beta1.LoadTest) (target, control string) {
	if lt.Status.StartTime == nil {
		return plan.TargetURLs(lt)
	}
	if lt.Status.Versus != nil {
		control = lt.Status.Versus.TargetURL
	}
	return lt.Status.TargetURL, control
}

// lookWhetherGone reads of each Service whether it is the one that was allowed, and nothing behind
// it. What cannot be read is asked again.
func (c *Checker) lookWhetherGone(ctx context.Context, lt *v1beta1.LoadTest, rules policy.Targets, a *Access, now time.Time) {
	a.nextGone = now.Add(serviceEvery)
	for to, allowed := range map[*reach]*v1beta1.TargetAccess{&a.target: lt.Status.Internal.Access, &a.control: lt.Status.Internal.ControlAccess} {
		uid := allowedUID(allowed, to.place)
		if uid == "" {
			continue
		}
		var service corev1.Service
		err := c.Reader.Get(ctx, types.NamespacedName{Namespace: to.place.Namespace, Name: to.place.Service}, &service)
		if client.IgnoreNotFound(err) != nil {
			a.nextGone = now.Add(podsEvery)
			continue
		}
		a.gone(to, rules.Gone(to.place, string(service.UID), uid)) // without a UID, if it was not found
	}
}

// allowedUID is the UID of the Service that was allowed; empty: none was, or another than the place.
func allowedUID(allowed *v1beta1.TargetAccess, p policy.Place) string {
	if allowed == nil || allowed.Name != p.Name {
		return ""
	}
	return allowed.ServiceUID
}

// reading is one reading of where the targets of a run lead to.
type reading struct {
	*Checker
	rules policy.Targets
	now   time.Time
	// access is what it comes to.
	access *Access
}

// read reads where the targets lead to; before is what was read before it.
func (c *Checker) read(ctx context.Context, lt *v1beta1.LoadTest, rules policy.Targets, before *Access, now time.Time) (*Access, error) {
	a := &Access{next: now.Add(hostEvery), nextGone: now.Add(serviceEvery)}
	if before != nil {
		a.target.sent, a.control.sent = before.target.sent, before.control.sent
	}
	r := reading{Checker: c, rules: rules, now: now, access: a}
	target, control := targetURLs(lt)
	if err := r.target(ctx, "spec.target", target, &lt.Spec.Target, lt.Status.Internal.Access, &a.target); err != nil {
		return nil, err
	}
	a.found.Target = a.target.granted()
	if v := lt.Spec.Versus; v != nil {
		if err := r.target(ctx, "spec.versus.target", control, &v.Target, lt.Status.Internal.ControlAccess, &a.control); err != nil {
			return nil, err
		}
		a.found.Control = a.control.granted()
	}
	a.confirm(before, lt.Status.HasAccess(), now)
	return a, nil
}

// target reads where the URL of the target in a field leads to, and then its proxy: what is
// connected to. allowed is what was allowed when the run began; nil: it has not.
func (r *reading) target(ctx context.Context, field, at string, t *v1beta1.Target, allowed *v1beta1.TargetAccess, to *reach) error {
	if err := r.judge(ctx, connection{field: field, url: at, allowed: allowed}, to); err != nil {
		return err
	}
	if t.Proxy == nil {
		return nil
	}
	return r.judge(ctx, connection{field: field + ".proxy", url: t.Proxy.URL, isProxy: true, allowed: allowed}, to)
}

// connection is what a field of the spec has workers connect to.
type connection struct {
	field, url string
	isProxy    bool
	allowed    *v1beta1.TargetAccess
}

// judge decides on where a connection leads to by what is read of it.
func (r *reading) judge(ctx context.Context, of connection, to *reach) error {
	u, err := url.Parse(of.url)
	if err != nil || u.Hostname() == "" {
		return nil // the spec is refused
	}
	to.place = r.rules.Place(u)
	to.place.IsProxy, to.field = of.isProxy, of.field
	facts, err := r.facts(ctx, to.place)
	if err != nil {
		return err
	}
	to.judgement = r.rules.Judge(to.place, facts)
	a, name := r.access, func(sentence string) string { return of.field + ": " + sentence }
	switch j := to.judgement; {
	case j.Refusal != "" && a.found.Refusal == "":
		a.found.Refusal = name(j.Refusal)
	case j.Problem != "" && a.found.Problem == "":
		a.found.Problem = name(j.Problem)
	}
	if uid := allowedUID(of.allowed, to.place); uid != "" && facts.Unreadable == "" {
		a.gone(to, r.rules.Gone(to.place, facts.UID(), uid))
	}
	if u := r.rules.Unconfirmed(to.place, facts); u != "" && a.unconfirmed == "" {
		a.unconfirmed = name(u)
	}
	a.next = instant.Earlier(a.next, r.now.Add(interval(to)))
	return nil
}
