package assemble

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/message"
	"github.com/loadtest-dev/loadtest-operator/loadworker/reflection"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
)

// services are what is known of the services of a target.
type services struct {
	target      *workerv1.Target
	descriptors *message.Descriptors // nil: there are no calls that need any
	logins      logins
}

// addCalls makes calls of the requests of a list that are some. field says where the spec
// has one.
func (s *services) addCalls(list []*workerv1.Request, field func(int) string, requests []source.Request) error {
	if !slices.ContainsFunc(list, isCall) {
		return nil
	}
	if err := checkCalls(s.target); err != nil {
		return fmt.Errorf("%s: %w", field(slices.IndexFunc(list, isCall)), err)
	}
	var errs []error
	for i, r := range list {
		if !isCall(r) {
			continue
		}
		method, err := s.method(r.GetCall())
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: grpc.method: %w", field(i), err))
			continue
		}
		requests[i].Call = &source.Call{
			Method: method, Timeout: time.Duration(cmp.Or(r.GetTimeoutNanos(), s.target.GetTimeoutNanos())), Gzip: r.GetCall().GetGzip(),
		}
		for _, m := range r.GetCall().GetMessages() {
			requests[i].Call.Messages = append(requests[i].Call.Messages, string(m))
		}
	}
	return errors.Join(errs...)
}

// method is the method of a call.
func (s *services) method(c *workerv1.Call) (*message.Method, error) {
	if c.GetHealth() {
		return message.HealthCheck(), nil
	}
	return s.descriptors.Method(c.GetMethod())
}

func isCall(r *workerv1.Request) bool { return r.GetCall() != nil }

// describedCalls are the calls of an assignment that are encoded by the descriptors of its
// target: of the mix, of the preflight and of audits.
func describedCalls(a *workerv1.Assignment) (list []*workerv1.Call) {
	requests := slices.Concat(a.GetRequests(), a.GetPreflight())
	for _, audit := range a.GetAudits() {
		requests = append(requests, audit.GetRead())
	}
	for _, r := range requests {
		if isCall(r) && !r.GetCall().GetHealth() {
			list = append(list, r.GetCall())
		}
	}
	return list
}

// checkCallsDriver refuses calls of the mix by what cannot send them.
func checkCallsDriver(a *workerv1.Assignment) error {
	if a.GetDriver() == workerv1.Driver_DRIVER_VEGETA && slices.ContainsFunc(a.GetRequests(), isCall) {
		return errors.New("requests: calls of gRPC are not sent by worker.driver Vegeta; use driver Auto")
	}
	return nil
}

// checkCalls refuses calls over what cannot send them.
func checkCalls(t *workerv1.Target) error {
	switch {
	case t.GetProtocol() != workerv1.Protocol_PROTOCOL_HTTP2:
		return errors.New("calls of gRPC need target.protocol HTTP/2")
	case t.GetProxyUrl() != "":
		return errors.New("calls of gRPC do not go through target.proxy")
	}
	return nil
}

func readDescriptors(path string) (*message.Descriptors, error) {
	set, err := readFile(path, message.MaxSize)
	if err != nil {
		return nil, fmt.Errorf("target.grpc.descriptorsFrom: %w", err)
	}
	descriptors, err := message.Read([]byte(set))
	if err != nil {
		return nil, fmt.Errorf("target.grpc.descriptorsFrom: %s %w", path, err)
	}
	return descriptors, nil
}

// descriptorMemory is the most that descriptors take for each byte of their file, as protoc
// writes them. Of others, the bounds of message.Read are what they take at most.
const descriptorMemory = 32

// descriptorsMemory is what a target's descriptors take: those that are asked for, as much
// as they may. A file that is not there is refused when it is read.
func descriptorsMemory(a *workerv1.Assignment) int64 {
	file := a.GetTarget().GetDescriptorsFile()
	switch {
	case len(describedCalls(a)) == 0:
		return 0
	case file == "":
		return reflection.MaxBytes * descriptorMemory
	}
	f, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return min(f.Size(), message.MaxSize) * descriptorMemory
}
