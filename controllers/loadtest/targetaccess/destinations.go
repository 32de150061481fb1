package targetaccess

import (
	"net/netip"

	"google.golang.org/protobuf/proto"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
)

// Destinations returns where connections to the targets may go, as Grant made it; nothing, if it
// was not read.
func (a *Access) Destinations() exchange.Destinations {
	if a == nil {
		return exchange.Destinations{}
	}
	to := exchange.Destinations{Target: a.target.sent, Control: a.control.sent}
	for i := range a.others {
		to.Others = append(to.Others, a.others[i].sent)
	}
	return to
}

// Grant makes what the workers are sent from what the status grants. It is to be called
// before Destinations; known says whether it could be made for each target.
func (a *Access) Grant(lt *v1beta1.LoadTest) (known bool) {
	if a == nil || !lt.Status.HasAccess() {
		return false
	}
	known = true
	for to, allowed := range a.reaches(lt) {
		to.grant(allowed)
		known = known && to.sent != nil
	}
	return known
}

// grant makes what the workers are sent: what was allowed when the run began, or pods as
// they are now. Without the addresses that no host may lead to, nothing is sent; and while the pods may
// not be read, those that were sent last stay.
func (to *reach) grant(a *v1beta1.TargetAccess) {
	j := &to.judgement
	if a == nil || j.Problem != "" && (a.Pods || !to.place.IsService()) {
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
func overlaps(p netip.Prefix, a *v1beta1.TargetAccess, pods []address.Destination) bool {
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
