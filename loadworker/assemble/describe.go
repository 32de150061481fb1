package assemble

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/message"
	"github.com/loadtest-dev/loadtest-operator/loadworker/reflection"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
)

const (
	// describeTimeout bounds one attempt to have the target describe its services: at worst
	// some hundred questions, one after another.
	describeTimeout = 20 * time.Second
	// describeStep is the index that random values of its headers have; see package setup for
	// the others that no step has.
	describeStep int32 = -5
)

// describe returns the descriptors by which the calls of an assignment are encoded: those
// that are given, or those that the target sends. nil: no call needs any. It waits for a
// target that is out of reach.
func describe(ctx context.Context, a *workerv1.Assignment, c Config, l logins, notReady func(error)) (*message.Descriptors, error) {
	// Calls that cannot be sent are refused with their field when they are added.
	if len(describedCalls(a)) == 0 || checkCalls(a.GetTarget()) != nil {
		return nil, nil
	}
	if file := a.GetTarget().GetDescriptorsFile(); file != "" {
		return readDescriptors(file)
	}
	r, err := newReflected(a, c, l)
	if err != nil {
		return nil, fmt.Errorf("target.grpc: %w", err)
	}
	if err := untilReachable(ctx, notReady, r.reach); err != nil {
		return nil, err
	}
	notReady(fmt.Errorf("target.grpc: %s is being asked for its descriptors", a.GetTarget().GetUrl()))
	err = untilReachable(ctx, notReady, r.ask)
	return r.descriptors, err
}

// reflected is a target that is asked for its descriptors.
type reflected struct {
	target      *workerv1.Target
	dialer      *dial.Dialer
	client      *reflection.Client
	services    []string
	descriptors *message.Descriptors // nil: none came yet
}

func newReflected(a *workerv1.Assignment, c Config, l logins) (*reflected, error) {
	r := &reflected{target: a.GetTarget()}
	for _, c := range describedCalls(a) {
		if service, _, ok := strings.Cut(c.GetMethod(), "/"); ok && !slices.Contains(r.services, service) {
			r.services = append(r.services, service)
		}
	}
	var err error
	if r.dialer, err = newDialer(a.GetTarget(), c); err != nil {
		return nil, err
	}
	config := reflection.Config{
		// Its handshake is no part of a step.
		Dial:   func(ctx context.Context) (net.Conn, error) { return r.dialer.Dial(dial.Probing(ctx)) },
		Secure: r.dialer.Target().TLS, Authority: r.dialer.Target().Host, Agent: agent(c),
	}
	sent, err := reflectionHeaders(a, l)
	if err != nil {
		return nil, err
	}
	if len(sent.Request.Host) > 0 {
		config.Authority = string(sent.Request.Host)
	}
	for _, h := range sent.Request.Headers {
		config.Headers = append(config.Headers, reflection.Header{Name: h.Name, Value: string(h.Value)})
	}
	r.client, err = reflection.NewClient(config)
	return r, err
}

// reflectionHeaders renders the headers of the target, as those of a preflight are rendered.
func reflectionHeaders(a *workerv1.Assignment, l logins) (*source.Buffer, error) {
	question, err := toRequest(&workerv1.Request{
		Name: "reflection", Method: http.MethodPost, Path: "/", Weight: 1, Headers: a.GetTarget().GetReflectionHeaders(),
	}, l, a.GetTarget())
	if err != nil {
		return nil, err
	}
	s, err := source.New(source.Config{Seed: a.GetSeed(), Workers: a.GetWorkers(), Requests: []source.Request{question}})
	if err != nil {
		return nil, err
	}
	b := &source.Buffer{}
	s.Render(b, 0, source.Vars{Seq: int64(a.GetWorker()), Worker: a.GetWorker(), Step: describeStep})
	return b, nil
}

// reach resolves the target and opens a connection to it: its errors are plainer than those
// of a call.
func (r *reflected) reach(ctx context.Context) *Refusal {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	if err := r.dialer.Probe(ctx); err != nil {
		return &Refusal{workerv1.ReasonTargetUnreachable, fmt.Errorf("target %s: %w", destination(r.target), err)}
	}
	return nil
}

// ask asks the target once, over a connection of its own.
func (r *reflected) ask(ctx context.Context) *Refusal {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	files, err := r.client.Files(ctx, r.services)
	if err == nil {
		r.descriptors, err = message.Sent(files)
	}
	return r.refusal(err)
}

// refusal says why the target has not described its services, and what helps.
func (r *reflected) refusal(err error) *Refusal {
	if err == nil {
		return nil
	}
	problem, ok := errors.AsType[*reflection.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		err = fmt.Errorf("target.grpc: the reflection of %s did not answer within %v", r.target.GetUrl(), describeTimeout)
		return &Refusal{workerv1.ReasonTargetUnreachable, err}
	case ok && problem.NotReady:
		return &Refusal{workerv1.ReasonTargetUnreachable, fmt.Errorf("target.grpc: %s: %w", r.target.GetUrl(), err)}
	case ok && problem.Remedy != "":
		err = fmt.Errorf("target.grpc: %w: give target.grpc.descriptorsFrom, or %s", err, problem.Remedy)
	case ok:
		err = fmt.Errorf("target.grpc: %w: give target.grpc.descriptorsFrom", err)
	default:
		err = fmt.Errorf("target.grpc: what the target's reflection sent %w: give target.grpc.descriptorsFrom", err)
	}
	return &Refusal{workerv1.ReasonInvalidSpec, err}
}
