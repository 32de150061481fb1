package assemble

import (
	"errors"
	"fmt"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// otherTarget is a target of requests that name it.
type otherTarget struct {
	target *workerv1.Target
	client transport.Client
}

// withOthers is a client that sends to the other targets of an assignment, too, by its own
// clients for them; without any it is the same. Each has its own policy.
func withOthers(client transport.Client, a *workerv1.Assignment, c Config) (transport.Client, []otherTarget, error) {
	clients, others, err := clientsOf(client, a, c)
	if err != nil || len(others) == 0 {
		return client, nil, err
	}
	return transport.NewRouted(clients...), others, nil
}

// clientsOf are a client and those of the other targets of an assignment.
func clientsOf(client transport.Client, a *workerv1.Assignment, c Config) ([]transport.Client, []otherTarget, error) {
	if len(a.GetOtherTargets()) > 0 && a.GetDriver() == workerv1.Driver_DRIVER_VEGETA {
		return nil, nil, errors.New("worker.driver: Vegeta sends to one target; use driver Auto")
	}
	clients, others := []transport.Client{client}, []otherTarget(nil)
	for i, t := range a.GetOtherTargets() {
		c.policy = c.otherPolicies[i]
		other, err := newClient(t, c)
		if err != nil {
			return nil, nil, fmt.Errorf("otherTargets: %s: %w", t.GetUrl(), err)
		}
		clients, others = append(clients, other), append(others, otherTarget{t, other})
	}
	return clients, others, nil
}
