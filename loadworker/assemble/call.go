package assemble

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/message"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
)

// addCalls makes calls of the requests that are some, by the descriptors of the target.
func addCalls(a *workerv1.Assignment, requests []source.Request) error {
	if !slices.ContainsFunc(a.GetRequests(), isCall) {
		return nil
	}
	if err := checkCalls(a); err != nil {
		return err
	}
	descriptors, err := readDescriptors(a.GetTarget().GetDescriptorsFile())
	if err != nil {
		return err
	}
	var errs []error
	for i, r := range a.GetRequests() {
		if !isCall(r) {
			continue
		}
		method, err := descriptors.Method(r.GetCall().GetMethod())
		if err != nil {
			errs = append(errs, fmt.Errorf("request %q: grpc.method: %w", r.GetName(), err))
			continue
		}
		requests[i].Call = &source.Call{
			Method: method, Message: string(r.GetCall().GetMessage()), Timeout: time.Duration(a.GetTarget().GetTimeoutNanos()),
		}
	}
	return errors.Join(errs...)
}

func isCall(r *workerv1.Request) bool { return r.GetCall() != nil }

// checkCalls refuses calls over what cannot send them.
func checkCalls(a *workerv1.Assignment) error {
	t := a.GetTarget()
	switch {
	case t.GetProtocol() != workerv1.Protocol_PROTOCOL_HTTP2:
		return errors.New("requests: calls of gRPC need target.protocol HTTP/2")
	case t.GetProxyUrl() != "":
		return errors.New("requests: calls of gRPC do not go through target.proxy")
	case a.GetDriver() == workerv1.Driver_DRIVER_VEGETA:
		return errors.New("requests: calls of gRPC are not sent by worker.driver Vegeta; use driver Auto")
	case t.GetDescriptorsFile() == "":
		return errors.New("requests: calls of gRPC need target.grpc.descriptorsFrom")
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

// descriptorMemory is the most that descriptors take for each byte of their file.
const descriptorMemory = 32

// descriptorsMemory is what a target's descriptors take. A file that is not there is refused
// when it is read.
func descriptorsMemory(t *workerv1.Target) int64 {
	f, err := os.Stat(t.GetDescriptorsFile())
	if err != nil {
		return 0
	}
	return min(f.Size(), message.MaxSize) * descriptorMemory
}
