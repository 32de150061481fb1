package plan

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

const (
	// stableFor is how long a number must stay the same: longer than a request that its
	// client gave up after a timeout of a second or two is stored later.
	stableFor = 3 * time.Second
	// maxWait is how long is waited for a number: longer than a broker takes to give the
	// work of a consumer that is gone to another, which is up to a minute.
	maxWait = 2 * time.Minute
)

// Audits are the audits of spec.audits that have stored, in order, with their defaults.
func Audits(spec *v1beta1.LoadTestSpec) []v1beta1.AuditStatus {
	var list []v1beta1.AuditStatus
	for _, a := range spec.StoredAudits() {
		status := v1beta1.AuditStatus{
			Name: a.Name, State: v1beta1.AuditPending, Unknown: new(int64),
			StableFor: metav1.Duration{Duration: stableFor}, MaxWait: metav1.Duration{Duration: maxWait},
		}
		if a.Stored.StableFor != nil {
			status.StableFor = *a.Stored.StableFor
		}
		if a.Stored.MaxWait != nil {
			status.MaxWait = *a.Stored.MaxWait
		}
		list = append(list, status)
	}
	return list
}

// AuditedItems is by how much a request raises the number of an audit, by the index of
// the request.
func AuditedItems(spec *v1beta1.LoadTestSpec, a *v1beta1.Stored) []int64 {
	items := RequestItems(spec)
	for i, r := range RequestNames(spec) {
		if !slices.Contains(a.Requests, r.Name) {
			items[i] = 0
		}
	}
	return items
}

func audits(spec *v1beta1.LoadTestSpec) []*workerv1.Audit {
	var list []*workerv1.Audit
	for _, a := range spec.StoredAudits() {
		read := question(&v1beta1.Preflight{HTTP: a.Stored.Read.HTTP, GRPC: a.Stored.Read.GRPC})
		list = append(list, &workerv1.Audit{Read: request(spec, &spec.Target, read), Value: string(a.Stored.Value)})
	}
	return list
}

// checkAudits refuses audits that would compare a number with a part of what was sent.
func checkAudits(spec *v1beta1.LoadTestSpec, steps []v1beta1.StepStatus) *Refusal {
	for _, a := range spec.StoredAudits() {
		for i := range steps {
			if v1beta1.OrZero(steps[i].Load.WarmUp) > 0 {
				return invalid("spec.audits: the target also stores what step %s sends in its warmUp, which is not part of any result; audit %s needs steps without warmUp: use setup.warmUp.", steps[i].Name, a.Name)
			}
		}
	}
	return nil
}
