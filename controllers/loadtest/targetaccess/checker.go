package targetaccess

import (
	"context"
	"net/netip"
	"net/url"
	"slices"
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
	// Reader reads past the cache, which has nothing of targets. Its answers are bounded as package
	// answersize has it: who may write pods says how large they are.
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
	if c == nil || !lifecycle.NeedsAccess(lt) || slices.ContainsFunc(targets(lt), func(t destination) bool { return t.url == "" }) {
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

// destination is a target of a LoadTest: the field that has it, and its URL, which is that of the
// status or what it will be.
type destination struct {
	field, url string
	target     *v1beta1.Target
}

// targets are all of a LoadTest, in the order of Access.reaches.
func targets(lt *v1beta1.LoadTest) []destination {
	urls := plan.KnownURLs(lt)
	if lt.Status.StartTime == nil {
		urls = plan.TargetURLs(lt)
	}
	list := []destination{{"spec.target", urls.Target, &lt.Spec.Target}}
	if c := lt.Spec.Control(); c != nil {
		list = append(list, destination{plan.OtherTargetField(lt.Spec.Versus.Target), urls.Control, c})
	}
	for i, o := range lt.Spec.RequestTargets() {
		list = append(list, destination{plan.OtherTargetField(o.Name), urls.Others[i], o.Target()})
	}
	return list
}

// lookWhetherGone reads of each Service whether it is the one that was allowed, and nothing behind
// it. What cannot be read is asked again.
func (c *Checker) lookWhetherGone(ctx context.Context, lt *v1beta1.LoadTest, rules policy.Targets, a *Access, now time.Time) {
	a.nextGone = now.Add(serviceEvery)
	for to, allowed := range a.reaches(lt) {
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
	// access is what it comes to, and before what the reading before it came to; nil: there was none.
	access, before *Access
}

// read reads where the targets lead to; before is what was read before it.
func (c *Checker) read(ctx context.Context, lt *v1beta1.LoadTest, rules policy.Targets, before *Access, now time.Time) (*Access, error) {
	a := &Access{next: now.Add(hostEvery), nextGone: now.Add(serviceEvery), unconfirmed: map[doubted]time.Time{}, others: make([]reach, len(lt.Spec.RequestTargets()))}
	if before != nil {
		a.keepSent(before)
	}
	r, all, i := reading{Checker: c, rules: rules, now: now, access: a, before: before}, targets(lt), 0
	for to, allowed := range a.reaches(lt) {
		if err := r.target(ctx, all[i], allowed, to); err != nil {
			return nil, err
		}
		i++
	}
	a.found.Target = a.target.granted()
	if lt.Spec.Control() != nil {
		a.found.Control = a.control.granted()
	}
	for i := range a.others {
		a.found.Others = append(a.found.Others, *a.others[i].granted())
	}
	a.confirm(lt.Status.HasAccess(), now)
	return a, nil
}

// target reads where the URL of a target leads to, and then its proxy: what is connected to.
// allowed is what was allowed when the run began; nil: it has not.
func (r *reading) target(ctx context.Context, d destination, allowed *v1beta1.TargetAccess, to *reach) error {
	if err := r.judge(ctx, connection{field: d.field, url: d.url, allowed: allowed}, to); err != nil {
		return err
	}
	if d.target.Proxy == nil {
		return nil
	}
	return r.judge(ctx, connection{field: d.field + ".proxy", url: d.target.Proxy.URL, isProxy: true, allowed: allowed}, to)
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
	for _, e := range facts.Unconfirmed() {
		if since := r.doubtedSince(of.field, e.Address); a.doubt == "" || since.Before(a.since) {
			a.doubt, a.since = name(r.rules.Doubt(to.place, e)), since
		}
	}
	a.next = instant.Earlier(a.next, r.now.Add(interval(to)))
	return nil
}

// doubtedSince notes an address that no pod has, and returns since when it has been there in every reading.
func (r *reading) doubtedSince(field, text string) time.Time {
	address, _ := netip.ParseAddr(text) // one that is none is refused
	at, since := doubted{field, address}, r.now
	if r.before != nil {
		if known, ok := r.before.unconfirmed[at]; ok {
			since = known
		}
	}
	r.access.unconfirmed[at] = since
	return since
}
