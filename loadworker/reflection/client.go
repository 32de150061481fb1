package reflection

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Config is how a target is asked.
type Config struct {
	// Dial opens a connection to the target, with TLS on it if Secure is set.
	Dial   func(context.Context) (net.Conn, error)
	Secure bool
	// Authority is what the target is called, and Agent who asks it.
	Authority, Agent string
	// Headers are sent with the question.
	Headers []Header
}

// Header is a field of a header. A value of a name that ends in -bin is in base64.
type Header struct{ Name, Value string }

// Client asks one target, over a new connection each time.
type Client struct {
	options  []grpc.DialOption
	metadata metadata.MD
}

const (
	// maxAnswer bounds one answer, in bytes.
	maxAnswer = MaxBytes + 64<<10
	// maxMetadata bounds the header of an answer.
	maxMetadata = 64 << 10
)

// NewClient returns a client, or an error that names a wrong header.
func NewClient(c Config) (*Client, error) {
	client := &Client{metadata: metadata.MD{}}
	for _, h := range c.Headers {
		name, value := strings.ToLower(h.Name), h.Value
		if name == "user-agent" {
			c.Agent = value
		}
		if strings.HasSuffix(name, "-bin") {
			// The library encodes it again.
			decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
			if err != nil {
				return nil, fmt.Errorf("header %q: a value of a name that ends in -bin must be base64", h.Name)
			}
			value = string(decoded)
		}
		client.metadata.Append(name, value)
	}
	client.options = []grpc.DialOption{
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return c.Dial(ctx) }),
		grpc.WithTransportCredentials(dialled{insecure.NewCredentials(), c.Secure}),
		grpc.WithAuthority(c.Authority), grpc.WithUserAgent(c.Agent),
		grpc.WithNoProxy(), grpc.WithDisableRetry(), grpc.WithDisableHealthCheck(), grpc.WithDisableServiceConfig(),
		grpc.WithMaxHeaderListSize(maxMetadata), grpc.WithInitialWindowSize(maxAnswer), grpc.WithInitialConnWindowSize(maxAnswer),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)),
	}
	return client, nil
}

// Files asks for the files that describe services, and for all that these import. Each file
// is there once, in the order in which they came. The error is an *Error, or that of ctx.
func (c *Client) Files(ctx context.Context, services []string) (list []*descriptorpb.FileDescriptorProto, err error) {
	err = c.connected(ctx, func(s *stream) error {
		list, err = s.files(services)
		return err
	})
	return list, err
}

// Services lists the names of the target's services. The error is as that of Files.
func (c *Client) Services(ctx context.Context) (names []string, err error) {
	err = c.connected(ctx, func(s *stream) error {
		names, err = s.services()
		return err
	})
	return names, err
}

// connected does something with a stream to the target.
func (c *Client) connected(ctx context.Context, do func(*stream) error) error {
	conn, err := grpc.NewClient("passthrough:///target", c.options...)
	if err != nil {
		return &Error{Err: err}
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithCancel(metadata.NewOutgoingContext(ctx, c.metadata))
	defer cancel()
	return do(&stream{ctx: ctx, conn: conn})
}

// dialled are credentials of a connection that was secured when it was opened.
type dialled struct {
	credentials.TransportCredentials
	secure bool
}

// Info decides the scheme that the target is told.
func (d dialled) Info() credentials.ProtocolInfo {
	info := d.TransportCredentials.Info()
	if d.secure {
		info.SecurityProtocol = "tls"
	}
	return info
}

// Clone is of credentials.TransportCredentials.
func (d dialled) Clone() credentials.TransportCredentials { return d }
