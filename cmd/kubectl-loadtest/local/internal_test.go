package local

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A field that names a file under another name would be looked for where only a kubelet
// puts it.
func TestEveryFileOfAnAssignmentIsRelocated(t *testing.T) {
	// What a form says of a file is sent to the target; its content is that of body_file.
	sent := map[protoreflect.FullName]bool{"loadtest.worker.v1.FormField.filename": true}
	var found []string
	seen := map[protoreflect.FullName]bool{}
	var walk func(protoreflect.MessageDescriptor)
	walk = func(m protoreflect.MessageDescriptor) {
		if seen[m.FullName()] {
			return
		}
		seen[m.FullName()] = true
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			if isFile(f) {
				found = append(found, string(m.Name())+"."+string(f.Name()))
			} else if f.Kind() == protoreflect.StringKind && strings.Contains(string(f.Name()), "file") && !sent[f.FullName()] {
				t.Errorf("%s is about a file and is not relocated", f.FullName())
			}
			if f.Message() != nil && !f.IsMap() {
				walk(f.Message())
			}
		}
	}
	walk((&workerv1.Assignment{}).ProtoReflect().Descriptor())
	slices.Sort(found)
	want := []string{
		"AWS.access_key_id_file", "AWS.secret_access_key_file", "AWS.session_token_file", "Data.file", "Header.value_file",
		"Login.password_file", "Login.token_file", "Login.username_file", "OAuth2.client_id_file", "OAuth2.client_secret_file", "OAuth2.refresh_token_file", "Replay.file",
		"Request.body_file", "Request.targets_file", "TLS.ca_file", "TLS.cert_file", "TLS.key_file", "Target.descriptors_file",
	}
	same.As(t, "fields that name files", want, found)
}

// Assignments share their parts: a path must not be relocated twice, and no text of the
// user's at all.
func TestRelocateChangesPathsAlone(t *testing.T) {
	request := &workerv1.Request{Path: plan.FileDir + "/x", BodyFile: plan.FileDir + "/configmaps/a/b", Headers: []*workerv1.Header{{ValueFile: plan.FileDir + "/secrets/a/b"}}}
	for range 2 {
		a := &workerv1.Assignment{Requests: []*workerv1.Request{request}}
		relocate(a.ProtoReflect(), "/tmp/x")
	}
	got := []string{request.GetPath(), request.GetBodyFile(), request.GetHeaders()[0].GetValueFile()}
	want := []string{plan.FileDir + "/x", "/tmp/x" + plan.FileDir + "/configmaps/a/b", "/tmp/x" + plan.FileDir + "/secrets/a/b"}
	same.As(t, "paths", want, got)
}

func TestStrangersAreRefused(t *testing.T) {
	p := newProcesses(nil, func() {})
	p.started = []*process{{token: "a", person: coordinator.Identity{Worker: 0}}, {token: "b", person: coordinator.Identity{Worker: 1}, over: true}}
	if got, err := p.Authenticate(context.Background(), "a"); err != nil || got.Worker != 0 {
		t.Errorf("worker 0 is refused: %v", err)
	}
	for _, token := range []string{"", "c", "b"} { // b's process has ended
		if _, err := p.Authenticate(context.Background(), token); !errors.Is(err, coordinator.ErrUnauthenticated) {
			t.Errorf("token %q: error %v, want ErrUnauthenticated", token, err)
		}
	}
}

// Workers on one machine have its ports and its memory together.
func TestWorkersShareTheMachine(t *testing.T) {
	got := share(health.Limits{Descriptors: 1000, Ports: 28_000, Memory: 800}, 4)
	same.As(t, "a fourth", health.Limits{Descriptors: 1000, Ports: 7000, Memory: 200}, got)
	if got := share(health.Limits{Ports: health.Unlimited}, 4); got.Ports != health.Unlimited {
		t.Errorf("%d ports of no limit", got.Ports)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var w tail
	for range 1000 {
		if _, err := w.Write([]byte("some line\n")); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = w.Write([]byte("the \x1b[31mlast\n\n"))
	if got := w.last(); got != "the [31mlast" || len(w.kept) > maxTail {
		t.Errorf("the last line of %d bytes is %q", len(w.kept), got)
	}
}

// A user finds the ConfigMap or Secret that a worker complains of, which no folder has after the run.
func TestWorkersNameConfigMapsAndSecretsInPlaceOfFiles(t *testing.T) {
	const folder = "/tmp/loadtest-1"
	for said, want := range map[string]string{
		`data "rows", file ` + folder + plan.FileDir + `/configmaps/rows/k.csv, line 3: x`: `data "rows", file k.csv of ConfigMap rows, line 3: x`,
		"open " + folder + plan.FileDir + "/secrets/api/body: x":                           "open body of Secret api: x",
		"open " + folder + plan.VolumeDir + "/claims/c/f: x":                               "open " + folder + plan.VolumeDir + "/claims/c/f: x",
		"path " + plan.FileDir + "/configmaps/a/b":                                         "path " + plan.FileDir + "/configmaps/a/b",
	} {
		same.As(t, said, want, named(said, folder))
	}
}
