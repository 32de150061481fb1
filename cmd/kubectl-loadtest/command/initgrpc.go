package command

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/draft"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/services"
)

// fromGRPC is the flag whose value is a server.
const fromGRPC = "from-grpc"

// grpcOptions are the flags of init about a server of gRPC.
type grpcOptions struct {
	address           string
	services, headers []string
	insecure          bool
}

func (o *grpcOptions) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.address, fromGRPC, "", "HOST:PORT of a gRPC server, whose reflection lists its services; https://HOST:PORT if it has TLS")
	flags.StringArrayVar(&o.services, "grpc-service", nil, "With --from-grpc: full name of a service to call, such as shop.v1.Cart; may be given several times; default: all but gRPC's own")
	flags.StringArrayVar(&o.headers, "header", nil, "With --from-grpc: header such as \"Authorization: Bearer abc\", which the server needs; may be given several times")
	flags.BoolVar(&o.insecure, "insecure", false, "With --from-grpc https://…: trust any certificate, here and in the LoadTest")
}

// check refuses flags that have no meaning together.
func (o *grpcOptions) check() error {
	switch {
	case o.address == "" && (len(o.services) > 0 || len(o.headers) > 0 || o.insecure):
		return errors.New("--grpc-service, --header and --insecure need --from-grpc")
	case strings.Contains(o.address, "@"):
		return errors.New("--from-grpc must be HOST:PORT or https://HOST:PORT, without credentials; give them by --header")
	case o.insecure && !strings.HasPrefix(o.address, "https://"):
		return errors.New("--insecure concerns certificates: it needs --from-grpc https://HOST:PORT")
	}
	return nil
}

// draft asks the server, and makes a LoadTest of what it has.
func (o *grpcOptions) draft(ctx context.Context) (*draft.Draft, error) {
	c := services.Config{Address: o.address, Insecure: o.insecure, Only: o.services, Agent: "kubectl-loadtest/" + Version}
	for _, line := range o.headers {
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, errors.New(`--header must be "NAME: VALUE"`)
		}
		c.Headers = append(c.Headers, services.Header{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	found, err := services.Ask(ctx, c)
	if err != nil {
		return nil, err
	}
	d, err := draft.FromGRPC(found.Services)
	if err != nil {
		return nil, err
	}
	d.Origin, d.Insecure, d.Health = found.Origin, o.insecure, found.Health
	for _, h := range c.Headers {
		d.SetHeader(h.Name, h.Value)
	}
	return d, nil
}
