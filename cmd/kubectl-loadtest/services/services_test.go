package services_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	grpcreflection "google.golang.org/grpc/reflection"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/services"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// serve serves until the test ends, and returns the address.
func serve(t *testing.T, register func(*grpc.Server), options ...grpc.ServerOption) string {
	t.Helper()
	s := grpc.NewServer(options...)
	register(s)
	return workertest.ServeGRPC(t, s)
}

// twoServices registers two services, and all of gRPC's own that this needs.
func twoServices(s *grpc.Server) {
	grpc_testing.RegisterTestServiceServer(s, grpc_testing.UnimplementedTestServiceServer{})
	grpc_testing.RegisterHookServiceServer(s, grpc_testing.UnimplementedHookServiceServer{})
	grpc_health_v1.RegisterHealthServer(s, health.NewServer())
	grpcreflection.Register(s)
}

func names(f *services.Found) (list []string) {
	for _, s := range f.Services {
		list = append(list, string(s.FullName()))
	}
	return list
}

func TestServicesAreThoseOfTheServer(t *testing.T) {
	at := serve(t, twoServices)
	for name, tt := range map[string]struct {
		only, want []string
	}{
		"all but gRPC's own": {nil, []string{"grpc.testing.HookService", "grpc.testing.TestService"}},
		"one":                {[]string{"grpc.testing.TestService", "grpc.testing.TestService"}, []string{"grpc.testing.TestService"}},
		"one of gRPC's own":  {[]string{"grpc.health.v1.Health"}, []string{"grpc.health.v1.Health"}},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := services.Ask(t.Context(), services.Config{Address: at, Only: tt.only})
			must.Succeed(t, err)
			if got := names(found); !slices.Equal(got, tt.want) || !found.Health || found.Origin != "http://"+at {
				t.Errorf("%v of %s, health %v; want %v", got, found.Origin, found.Health, tt.want)
			}
			if m := found.Services[0].Methods(); m.Len() == 0 {
				t.Error("the first service has no methods")
			}
		})
	}
}

func TestServerWithTLSIsAsked(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.StartTLS()
	defer s.Close()
	at := serve(t, twoServices, grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: s.TLS.Certificates, MinVersion: tls.VersionTLS12})))
	found, err := services.Ask(t.Context(), services.Config{Address: "https://" + at, Insecure: true})
	if err != nil || len(found.Services) != 2 || found.Origin != "https://"+at {
		t.Errorf("%+v, %v", found, err)
	}
	_, err = services.Ask(t.Context(), services.Config{Address: "https://" + at})
	must.Say(t, err, "certificate")
}

// A certificate may name hosts by characters that a terminal obeys.
func TestNamesOfACertificateAreNotObeyed(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Succeed(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"a\x1b[2Jb"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must.Succeed(t, err)
	at := serve(t, twoServices, grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12})))
	_, port, err := net.SplitHostPort(at)
	must.Succeed(t, err)
	_, err = services.Ask(t.Context(), services.Config{Address: "https://localhost:" + port})
	if err == nil || !strings.Contains(err.Error(), "[2Jb") || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("error %q, want the name without its escape", err)
	}
}

func TestHeadersAreSentWithTheQuestions(t *testing.T) {
	at := serve(t, twoServices, grpc.StreamInterceptor(func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		md, _ := metadata.FromIncomingContext(stream.Context())
		if !slices.Contains(md.Get("authorization"), "Bearer s3cret") {
			return status.Error(codes.Unauthenticated, "no")
		}
		return handler(srv, stream)
	}))
	_, err := services.Ask(t.Context(), services.Config{Address: at})
	must.Say(t, err, "refuses the request (UNAUTHENTICATED): give credentials by --header")
	c := services.Config{Address: at, Headers: []services.Header{{Name: "Authorization", Value: "Bearer s3cret"}}}
	if found, err := services.Ask(t.Context(), c); err != nil || len(found.Services) != 2 {
		t.Errorf("%+v, %v", found, err)
	}
}

// lists answers with names of services, and with a file that has none of them.
type lists struct {
	reflectionpb.UnimplementedServerReflectionServer
	names []string
}

func (l lists) ServerReflectionInfo(stream reflectionpb.ServerReflection_ServerReflectionInfoServer) error {
	for {
		question, err := stream.Recv()
		if err != nil {
			return err
		}
		answer := &reflectionpb.ServerReflectionResponse{}
		if _, ok := question.GetMessageRequest().(*reflectionpb.ServerReflectionRequest_ListServices); ok {
			list := &reflectionpb.ListServiceResponse{}
			for _, name := range l.names {
				list.Service = append(list.Service, &reflectionpb.ServiceResponse{Name: name})
			}
			answer.MessageResponse = &reflectionpb.ServerReflectionResponse_ListServicesResponse{ListServicesResponse: list}
		} else {
			file, err := proto.Marshal(protodesc.ToFileDescriptorProto(grpc_testing.File_grpc_testing_empty_proto))
			if err != nil {
				return err
			}
			answer.MessageResponse = &reflectionpb.ServerReflectionResponse_FileDescriptorResponse{
				FileDescriptorResponse: &reflectionpb.FileDescriptorResponse{FileDescriptorProto: [][]byte{file}},
			}
		}
		if err := stream.Send(answer); err != nil {
			return err
		}
	}
}

// Whatever a server says is an error that names the way out, and has nothing but names of
// services.
func TestWhatCannotBeAskedIsAnError(t *testing.T) {
	listing := func(names ...string) string {
		return serve(t, func(s *grpc.Server) { reflectionpb.RegisterServerReflectionServer(s, lists{names: names}) })
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	var many []string
	for i := range 257 {
		many = append(many, fmt.Sprint("a.S", i))
	}
	for name, tt := range map[string]struct {
		config services.Config
		want   string
	}{
		"no reflection":      {services.Config{Address: serve(t, func(*grpc.Server) {})}, "the target has no reflection (UNIMPLEMENTED): register reflection in the server"},
		"no gRPC":            {services.Config{Address: plain.URL}, "check that a server of gRPC listens there, and that the address begins with https:// if it has TLS"},
		"connection refused": {services.Config{Address: "127.0.0.1:1"}, "connection refused"},
		"no address":         {services.Config{Address: "shop:port"}, `target url`},
		"a path":             {services.Config{Address: "http://shop/cart"}, "must be scheme and host only"},
		"a wrong header":     {services.Config{Address: plain.URL, Headers: []services.Header{{Name: "x-bin", Value: "?"}}}, "must be base64"},
		"no such service":    {services.Config{Address: serve(t, twoServices), Only: []string{"a.B"}}, `the server lists no service "a.B", but grpc.testing.HookService, grpc.testing.TestService`},
		"gRPC's own":         {services.Config{Address: listing("grpc.reflection.v1.ServerReflection", "grpc.health.v1.Health")}, "lists no service but gRPC's own"},
		"names of nothing":   {services.Config{Address: listing("", "s3cret\n", "a b", "s3cret\x1b[2J", strings.Repeat("s", 513))}, "lists no service but gRPC's own"},
		"another's names":    {services.Config{Address: listing("s3cret\n"), Only: []string{"s3cret\n"}}, `the server lists no service "s3cret\n", but none at all`},
		"many services":      {services.Config{Address: listing(many...)}, "the server lists 257 services: name at most 256 of them by --grpc-service, such as a.S0"},
		"many, and no such":  {services.Config{Address: listing(many...), Only: []string{"a.B"}}, "a.S100, a.S101, a.S102, a.S103, a.S104 and 249 more"},
		"no such descriptor": {services.Config{Address: listing("a.B")}, "have no service a.B"},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := services.Ask(t.Context(), tt.config)
			if err == nil || found != nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%+v, %v; want …%s…", found, err, tt.want)
			}
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%q has what the server sent", err)
			}
		})
	}
}

// silent is a server that answers no question until it is given up.
func silent(t *testing.T, asked func()) string {
	t.Helper()
	return serve(t, twoServices, grpc.StreamInterceptor(func(_ any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, _ grpc.StreamHandler) error {
		asked()
		<-stream.Context().Done()
		return nil
	}))
}

func TestAskEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	at := silent(t, cancel)
	if found, err := services.Ask(ctx, services.Config{Address: at}); !strings.Contains(fmt.Sprint(err), "canceled") {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestServerThatDoesNotAnswerIsGivenUp(t *testing.T) {
	at := silent(t, func() {})
	if found, err := services.Ask(t.Context(), services.Config{Address: at, Timeout: time.Millisecond}); !strings.Contains(fmt.Sprint(err), at+" did not answer within 1ms") {
		t.Errorf("%+v, %v", found, err)
	}
}
