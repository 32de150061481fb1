package services

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/message"
	"github.com/loadtest-dev/loadtest-operator/loadworker/reflection"
	"github.com/loadtest-dev/loadtest-operator/text"
)

const (
	// defaultTimeout is long enough for some hundred questions, one after another.
	defaultTimeout = 20 * time.Second
	// maxServices bounds how many are asked for. A LoadTest has at most 32 requests.
	maxServices = 256
	// maxName is the longest name of a service, as that of a method in the API.
	maxName = 512
	// maxShown bounds the names in an error, and maxError its bytes.
	maxShown = 8
	maxError = 8 << 10
)

// health is the health service of gRPC.
const health = "grpc.health.v1.Health"

// own are the packages of services that are no part of what a server is for.
var own = []string{"grpc.reflection.", "grpc.health.", "grpc.channelz."}

// Config is who is asked, and how.
type Config struct {
	// Address is HOST:PORT, or a URL of scheme and host: https is TLS, and http is the default.
	Address string
	// Insecure has any certificate trusted.
	Insecure bool
	// Only are the full names of the services that are wanted; none: all but gRPC's own.
	Only []string
	// Headers are sent with the questions, and Agent is who asks.
	Headers []Header
	Agent   string
	// Timeout bounds all questions together. Absent: 20 s.
	Timeout time.Duration
}

// Header is a header of a question. A value of a name that ends in -bin is in base64.
type Header struct{ Name, Value string }

// Found is what a server has.
type Found struct {
	// Origin is its scheme and host.
	Origin   string
	Services []protoreflect.ServiceDescriptor
	// Health says that it has the health service of gRPC.
	Health bool
}

// Ask asks a server. Its errors have of what the server sent at most names of services, and
// nothing that a terminal obeys.
func Ask(ctx context.Context, c Config) (*Found, error) {
	dialer, err := c.dialer()
	if err != nil {
		return nil, err
	}
	client, err := c.client(dialer)
	if err != nil {
		return nil, err
	}
	timeout := cmp.Or(c.Timeout, defaultTimeout)
	asking, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found := &Found{Origin: dialer.Target().Scheme() + "://" + dialer.Target().Host}
	err = found.ask(asking, dialer, client, c.Only)
	switch {
	case err == nil:
		return found, nil
	case ctx.Err() == nil && (asking.Err() != nil || isTimeout(err)):
		return nil, fmt.Errorf("%s did not answer within %v", found.Origin, timeout)
	}
	// What a certificate says is in errors of TLS.
	return nil, errors.New(text.Clean(err.Error(), maxError))
}

// isTimeout says whether the time was over. A socket may notice that before the context does.
func isTimeout(err error) bool {
	var timed net.Error
	return errors.As(err, &timed) && timed.Timeout()
}

func (c *Config) dialer() (*dial.Dialer, error) {
	config := dial.Config{
		URL: c.Address, HTTP2: true, TLS: &tls.Config{InsecureSkipVerify: c.Insecure},
		// It connects from the machine on which the command runs, to the address that it is given.
		Policy: address.Policy{AllowSpecial: true},
	}
	if !strings.Contains(config.URL, "://") {
		config.URL = "http://" + config.URL
	}
	return dial.NewDialer(config)
}

func (c *Config) client(d *dial.Dialer) (*reflection.Client, error) {
	config := reflection.Config{
		Dial: d.Dial, Secure: d.Target().TLS, Authority: d.Target().Host, Agent: c.Agent,
	}
	for _, h := range c.Headers {
		config.Headers = append(config.Headers, reflection.Header(h))
	}
	return reflection.NewClient(config)
}

func (f *Found) ask(ctx context.Context, d *dial.Dialer, client *reflection.Client, only []string) error {
	// Its errors are plainer than those of a call.
	if err := d.Probe(ctx); err != nil {
		return err
	}
	listed, err := client.Services(ctx)
	if err != nil {
		return withRemedy(err)
	}
	f.Health = slices.Contains(listed, health)
	wanted, err := choose(listed, only)
	if err != nil {
		return err
	}
	files, err := client.Files(ctx, wanted)
	if err != nil {
		return withRemedy(err)
	}
	descriptors, err := message.Sent(files)
	if err != nil {
		return fmt.Errorf("what the target's reflection sent %w", err)
	}
	for _, name := range wanted {
		s := descriptors.Service(name)
		if s == nil {
			return fmt.Errorf("the target's reflection answers with descriptors that have no service %s", name)
		}
		f.Services = append(f.Services, s)
	}
	return nil
}

// choose returns the names of the services that are wanted of those that a server lists.
func choose(listed, only []string) ([]string, error) {
	valid := slices.DeleteFunc(slices.Clone(listed), func(name string) bool {
		return len(name) > maxName || !protoreflect.FullName(name).IsValid()
	})
	slices.Sort(valid)
	valid = slices.Compact(valid)
	others := slices.DeleteFunc(slices.Clone(valid), isOwn)
	for _, name := range only {
		if !slices.Contains(valid, name) {
			return nil, fmt.Errorf("the server lists no service %q, but %s", name, shown(others))
		}
	}
	switch {
	case len(only) > 0:
		return slices.Compact(slices.Sorted(slices.Values(only))), nil
	case len(others) == 0:
		return nil, errors.New("the server lists no service but gRPC's own: nothing can be called")
	case len(others) > maxServices:
		return nil, fmt.Errorf("the server lists %d services: name at most %d of them by --grpc-service, such as %s", len(others), maxServices, others[0])
	}
	return others, nil
}

func isOwn(name string) bool {
	return slices.ContainsFunc(own, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func shown(names []string) string {
	if len(names) == 0 {
		return "none at all"
	}
	if more := len(names) - maxShown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxShown], ", "), more)
	}
	return strings.Join(names, ", ")
}

// withRemedy adds to an error what helps here.
func withRemedy(err error) error {
	var problem *reflection.Error
	if !errors.As(err, &problem) {
		return err
	}
	switch problem.Code {
	case codes.Unimplemented:
		return fmt.Errorf("%w: register reflection in the server", err)
	case codes.Unauthenticated, codes.PermissionDenied:
		return fmt.Errorf("%w: give credentials by --header", err)
	case codes.DeadlineExceeded:
		return context.DeadlineExceeded // which the server has seen before it was seen here
	case codes.Unavailable:
		return fmt.Errorf("%w: check that a server of gRPC listens there, and that the address begins with https:// if it has TLS", err)
	}
	return fmt.Errorf("%w: if one service is the cause, name the others by --grpc-service", err)
}
