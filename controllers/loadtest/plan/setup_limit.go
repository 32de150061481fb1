package plan

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// boundSetup divides the limit of users over the workers that send a setup at once, each over several connections: each
// connection is a user who sends the next request as soon as the one before is answered. Those of all loads of a run
// send theirs at once.
func (p *Plan) boundSetup(spec *v1beta1.LoadTestSpec, workers int32, limits policy.Limits) {
	p.SetupConnections = 0
	if spec.Setup != nil && limits.Users > 0 {
		p.SetupConnections = max(1, limits.Users/max(workers, 1))
	}
}

// OfAll bounds the setup of a load, of whose run so many workers send one at once.
func (p *Plan) OfAll(spec *v1beta1.LoadTestSpec, workers int32, limits policy.Limits) {
	p.boundSetup(spec, max(workers, p.Workers), limits)
}

// setupBreach refuses more workers than there may be users: each opens a connection for the setup.
func setupBreach(spec *v1beta1.LoadTestSpec, workers, limit int32, may string) string {
	if spec.Setup == nil || limit == 0 || workers <= limit {
		return ""
	}
	return fmt.Sprintf("spec.setup: %d workers, each of which sends it over at least one connection, are more users %s; at most %d are accepted: use fewer workers.", workers, may, limit)
}
