package plan_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/testing/protocmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// audited is a spec with an audit of two of its three requests.
func audited() *v1beta1.LoadTestSpec {
	s := oneUser()
	s.Requests = []v1beta1.Request{{Name: "create"}, {Name: "follow"}, {Name: "import", Items: 10}}
	s.Target.Headers = []v1beta1.Header{{Name: "X-Key", ValueFrom: &v1beta1.HeaderSource{Secret: v1beta1.KeyReference{Name: "loadtest-target", Key: "key"}}}}
	own := v1beta1.Header{Name: "X-Admin", ValueFrom: &v1beta1.HeaderSource{Secret: v1beta1.KeyReference{Name: "loadtest-admin", Key: "key"}}}
	s.Audits = []v1beta1.Audit{
		{Name: "contract", RateLimit: &v1beta1.RateLimit{Capacity: 1, RefillPerSecond: v1beta1.NewDecimal("1"), ClientHeader: "A"}},
		{Name: "links", Stored: &v1beta1.Stored{
			Read: v1beta1.Reading{HTTP: &v1beta1.Query{Path: "/stats", Headers: []v1beta1.Header{own}}}, Value: ".links", Requests: []string{"create", "import"},
		}},
	}
	return s
}

func TestAuditsArePlannedWithTheirDefaults(t *testing.T) {
	s := audited()
	other := s.Audits[1]
	other.Name, other.Stored = "clicks", other.Stored.DeepCopy()
	other.Stored.StableFor, other.Stored.MaxWait = duration(0), duration(time.Minute)
	s.Audits = append(s.Audits, other)
	zero := int64(0)
	want := []v1beta1.AuditStatus{
		{Name: "links", State: v1beta1.AuditPending, StableFor: *duration(3 * time.Second), MaxWait: *duration(2 * time.Minute), Unknown: &zero},
		{Name: "clicks", State: v1beta1.AuditPending, StableFor: *duration(0), MaxWait: *duration(time.Minute), Unknown: &zero},
	}
	same.As(t, "audits", want, accepted(t, s).Status.Audits)
	same.As(t, "items", []int64{1, 0, 10}, plan.AuditedItems(s, s.Audits[1].Stored))
}

func TestEveryWorkerCanReadTheNumbers(t *testing.T) {
	list := assignments(t, audited())
	want := []*workerv1.Audit{{Value: ".links", Read: &workerv1.Request{
		Name: "GET /stats", Type: "Read", Weight: 1, Method: "GET", Path: "/stats",
		Headers: []*workerv1.Header{
			{Name: "X-Key", ValueFile: "/var/run/loadtest/secrets/loadtest-target/key"}, {Name: "X-Admin", ValueFile: "/var/run/loadtest/secrets/loadtest-admin/key"},
		},
	}}}
	same.As(t, "audits", want, list[len(list)-1].GetAudits(), protocmp.Transform())
	files := []plan.File{{Kind: plan.InSecret, Name: "loadtest-admin", Key: "key"}, {Kind: plan.InSecret, Name: "loadtest-target", Key: "key"}}
	same.As(t, "files", files, plan.Files(audited()))
}

// What a warm-up stores is in no result, so that nothing could be said of the number.
func TestAuditRefusesAStepWithAWarmUp(t *testing.T) {
	s := audited()
	s.Steps[0].WarmUp = duration(time.Second)
	lt := &v1beta1.LoadTest{Spec: *s}
	const want = "spec.audits: the target also stores what step 1 users sends in its warmUp, which is not part of any result; audit links needs steps without warmUp: use setup.warmUp."
	same.As(t, "refusal", want, refusalOf(lt, policy.Rules{}))
	lt.Spec.Audits = lt.Spec.Audits[:1]
	same.As(t, "refusal of a limiter's audit", "", refusalOf(lt, policy.Rules{}))
}
