package main

import (
	"os"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/message"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/grpc"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Peers that are given bytes, and those that are given JSON, send what our worker does.
func TestAllCallWithTheSameMessage(t *testing.T) {
	call, err := (&bench{work: t.TempDir()}).writeCall()
	must.Succeed(t, err)
	set, errSet := os.ReadFile(call.Descriptors)
	frame, errFrame := os.ReadFile(call.Frame)
	descriptors, err := message.Read(set)
	if errSet != nil || errFrame != nil || err != nil {
		t.Fatal(errSet, errFrame, err)
	}
	test := calling(func(url string) *v1beta1.LoadTest { return speak(overGRPC, loadTest(url, 1, harness.Burst(1, 1))) }, callMessage)
	a, err := assignment(test("http://x"), 0)
	must.Succeed(t, err)
	ours := a.GetRequests()[0].GetCall()
	method, err := descriptors.Method(ours.GetMethod())
	if err != nil || ours.GetMethod() != call.Service+"/"+call.Method || len(ours.GetMessages()) != 1 || string(ours.GetMessages()[0]) != call.Message {
		t.Fatalf("ours is %v, theirs %+v, %v", ours, call, err)
	}
	if extra := a.GetRequests()[0].GetHeaders(); len(extra) > 0 {
		t.Errorf("ours has %v, which peers do not send", extra)
	}
	want, err := method.Encode(make([]byte, grpc.PrefixSize), ours.GetMessages()[0])
	must.Succeed(t, err)
	grpc.Frame(want, false)
	if string(frame) != string(want) {
		t.Errorf("%q is sent by peers, %q by ours", frame, want)
	}
	if _, err := method.Encode(nil, []byte(variedMessage)); err != nil || len(variedMessage) != len(callMessage) || !strings.Contains(variedMessage, "${seq}") {
		t.Errorf("the message with variables is %s, %v", variedMessage, err)
	}
}

func TestCallsThatAreNotAnsweredWithOKAreNoMeasurement(t *testing.T) {
	for counted, want := range map[string]string{
		`{"requests": 5, "answered": 5, "connections": 2}`: "",
		`{"requests": 5, "answered": 4}`:                   "the server answered 4 of 5 calls with OK",
		`{"requests": 0, "answered": 0}`:                   "the server answered 0 of 0 calls with OK",
		`no JSON`:                                          "invalid character",
	} {
		t.Run(counted, func(t *testing.T) {
			s := servedBy(t, counted)
			c, _, err := s.stop()
			if s.url() != "http://x" || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %+v, %v; want %q", s.url(), c, err, want)
			}
			if want == "" && (c.Requests != 5 || c.Connections != 2) {
				t.Errorf("counted %+v", c)
			}
		})
	}
}

// Our worker waits 5 s for replies after its window, and then cancels calls that are held.
func TestCallsThatAreHeldNeedNoReply(t *testing.T) {
	if c, _, err := servedBy(t, `{"requests": 5}`, "-d", "10s").stop(); c.Requests != 5 || err != nil {
		t.Errorf("counted %+v, %v", c, err)
	}
}

// servedBy is a server that says at its end that it counted so.
func servedBy(t *testing.T, counted string, args ...string) *callServer {
	t.Helper()
	b := &bench{work: t.TempDir()}
	script := "#!/bin/sh\necho '{\"url\": \"http://x\"}'\ncat\necho '" + counted + "'\n"
	must.Succeed(t, os.WriteFile(b.path("calls"), []byte(script), 0o700))
	s, err := b.serveCalls(args...)
	must.Succeed(t, err)
	return s
}
