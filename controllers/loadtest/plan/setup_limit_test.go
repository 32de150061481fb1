package plan_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// The workers of a setup have no more connections, together, than there may be users.
func TestConnectionsOfASetupAreWithinTheUsers(t *testing.T) {
	for name, tt := range map[string]struct {
		users, workers int32
		want           int32 // of each
	}{
		"no limit":                {users: 0, workers: 4, want: 0},
		"more than they have":     {users: 1000, workers: 4, want: 250},
		"fewer than they have":    {users: 10, workers: 1, want: 10},
		"divided":                 {users: 10, workers: 4, want: 2},
		"as many as workers":      {users: 4, workers: 4, want: 1},
		"fewer than would divide": {users: 7, workers: 4, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			lt := loadTest(spec(with(usersLadder(nil, 1), parallelism(tt.workers), func(s *v1beta1.LoadTestSpec) {
				s.Requests[0].Name = "create"
				s.Setup = &v1beta1.Setup{Fill: &v1beta1.Fill{Request: "create", Count: 100}}
			})))
			p, refusal := plan.New(lt, policy.Rules{Limits: policy.Limits{Users: tt.users}})
			if refusal != nil {
				t.Fatal(refusal)
			}
			p.Record(&lt.Status)
			for _, a := range plan.Assignments(lt) {
				if got := a.GetSetup().GetConnections(); got != tt.want {
					t.Errorf("worker %d opens %d connections, want %d", a.GetWorker(), got, tt.want)
				}
			}
		})
	}
}

// The workers of all loads send the setup at once.
func TestALoadHasAPartOfTheConnectionsOfASetup(t *testing.T) {
	lt := sideBySide(t, "setup: {fill: {request: create, count: 3}}, "+readersAndBuyers)
	rules := policy.Everything()
	rules.Limits.Users = 100
	one := plan.Loads(lt)[0]
	p, refusal := plan.New(one, rules)
	if refusal != nil {
		t.Fatal(refusal)
	}
	for workers, want := range map[int32]int32{0: 100, 1: 100, 2: 50, 10: 10, 200: 1} {
		if p.OfAll(&one.Spec, workers, rules.Limits); p.SetupConnections != want {
			t.Errorf("beside %d workers in all, each opens %d connections, want %d", workers, p.SetupConnections, want)
		}
	}
}
