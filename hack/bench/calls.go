package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/peer"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/grpc"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
)

// textSize is that of the text in the message, in bytes.
const textSize = 64

// callMessage is the message that all generators send, and variedMessage one of about the same
// size with variables.
var callMessage, variedMessage = messages()

func messages() (constant, varied string) {
	const message, pattern = `{"service":"%s"}`, "user ${user} sends request ${seq} "
	return fmt.Sprintf(message, strings.Repeat("x", textSize)), fmt.Sprintf(message, pattern+strings.Repeat("x", textSize-len(pattern)))
}

// writeCall writes the files that peers need to make calls.
func (b *bench) writeCall() (*peer.Call, error) {
	descriptors, err := b.descriptors()
	if err != nil {
		return nil, err
	}
	message := &healthpb.HealthCheckRequest{}
	if err := protojson.Unmarshal([]byte(callMessage), message); err != nil {
		return nil, err
	}
	frame, err := proto.MarshalOptions{}.MarshalAppend(make([]byte, grpc.PrefixSize), message)
	if err != nil {
		return nil, err
	}
	grpc.Frame(frame, false)
	service, method, _ := strings.Cut(healthpb.Health_Check_FullMethodName[1:], "/")
	c := &peer.Call{
		Service: service, Method: method, Message: callMessage, Descriptors: descriptors, Frame: b.path("frame"),
	}
	return c, os.WriteFile(c.Frame, frame, 0o600)
}

// calling has the LoadTests of a load make calls with a message, and nothing that peers do not
// send.
func calling(test func(url string) *v1beta1.LoadTest, message string) func(url string) *v1beta1.LoadTest {
	return func(url string) *v1beta1.LoadTest {
		lt := test(url)
		for i := range lt.Spec.Requests {
			lt.Spec.Requests[i].GRPC.Message, lt.Spec.Requests[i].GRPC.Metadata = rawJSON(message), nil
		}
		return lt
	}
}

func rawJSON(text string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(text)} }

// ourCalls are our worker with a message that is encoded once, and with one that has variables.
func (b *bench) ourCalls(d time.Duration) []contender {
	users := func(url string) *v1beta1.LoadTest {
		return speak(overGRPC, loadTest(url, 1, harness.ClosedUsers(connections, d)))
	}
	streams := overStreams(overGRPC, connections/16, 16, arrivals(unreachable, d))
	ours := func(with, message string) []contender {
		return []contender{
			b.oursTo(ourUsers+with, overGRPC, calling(users, message)),
			b.oursTo(our16+with, overGRPC, calling(streams, message), "-max-connections", fmt.Sprint(connections)),
		}
	}
	return append(ours("", callMessage), ours(", variables", variedMessage)...)
}

// callServer is a server of grpc-go in a process of its own.
type callServer struct {
	process *process.Process
	holds   bool   // its replies, for longer than a worker waits for them
	URL     string `json:"url"`
}

var _ server = (*callServer)(nil)

// serveCalls starts a server with the arguments of its command.
func (b *bench) serveCalls(args ...string) (*callServer, error) {
	p, err := process.Start(process.Command{Path: b.path("calls"), Args: args, Core: serverCore})
	if err != nil {
		return nil, err
	}
	s := &callServer{process: p, holds: len(args) > 0}
	if err := p.ReadJSON(s); err != nil {
		_, stopped := p.Stop()
		return nil, fmt.Errorf("start the server of calls: %w, %w", err, stopped)
	}
	return s, nil
}

func (s *callServer) url() string         { return s.URL }
func (s *callServer) certificate() string { return "" }

// stop ends it. That a call was not answered with OK is an error: such calls cost less.
func (s *callServer) stop() (c groundtruth.Counters, _ process.Usage, err error) {
	closed := s.process.Stdin.Close()
	read := s.process.ReadJSON(&c)
	usage, stopped := s.process.Stop()
	if err := errors.Join(closed, read, stopped); err != nil {
		return c, usage, err
	}
	if !s.holds && (c.Requests == 0 || c.Answered != c.Requests) {
		err = fmt.Errorf("the server answered %d of %d calls with OK", c.Answered, c.Requests)
	}
	return c, usage, err
}
