package setup

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// asksHealth says whether a question is one to the health service of gRPC.
func (p Preflight) asksHealth(question int) bool {
	return question < len(p.Health) && p.Health[question]
}

// checkHealth judges the answer of a health service (grpc.health.v1).
func (p Preflight) checkHealth(question int, r *transport.Response) error {
	switch r.Status {
	case measure.GRPCOK:
	case measure.GRPCUnimplemented:
		return errNoHealthService
	case measure.GRPCNotFound:
		return errNoSuchService
	default:
		return p.Source.CheckStatus(question, r.Status)
	}
	document, err := p.Source.Document(question, r)
	if err != nil {
		return err
	}
	var reply struct{ Status any } // a number, if the enumeration has no name for it
	if err := json.Unmarshal(document.JSON, &reply); err != nil {
		return err
	}
	switch reply.Status {
	case "SERVING":
		return nil
	case "SERVICE_UNKNOWN":
		return errNoSuchService
	case "NOT_SERVING", "UNKNOWN":
		return fmt.Errorf("%w, but %s", errNotServing, reply.Status)
	}
	return fmt.Errorf("%v is not a status of a health service", reply.Status)
}

var (
	errNotServing      = errors.New("the service is not SERVING")
	errNoHealthService = errors.New("the target has no health service (status 12 UNIMPLEMENTED): register grpc.health.v1.Health there, or call a method that it has by preflight.grpc")
	errNoSuchService   = errors.New("the health service of the target has no service of this name (status 5 NOT_FOUND): set grpcHealth.service to one that it has, or leave it out to ask for the target as a whole")
)
