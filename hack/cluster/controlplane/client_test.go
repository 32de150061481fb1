package controlplane

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/pki"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/probe"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/process"
	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

func TestNodesAreReadyByTheirHeartbeat(t *testing.T) {
	const list = `{"items": [
		{"metadata": {"name": "node-1"}, "status": {"conditions": [
			{"type": "DiskPressure", "status": "False", "lastHeartbeatTime": "2026-11-20T09:00:00Z"},
			{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-20T10:00:00Z"}]}},
		{"metadata": {"name": "node-2"}, "status": {"conditions": [
			{"type": "Ready", "status": "Unknown", "lastHeartbeatTime": "2026-11-20T10:00:00Z"}]}},
		{"metadata": {"name": "node-3"}, "status": {}}]}`
	got, err := readiness([]byte(list))
	must.Succeed(t, err)
	want := map[string]time.Time{"node-1": now, "node-2": {}, "node-3": {}}
	same.As(t, "readiness", want, got)
	if got, err := readiness([]byte("<html>")); err == nil {
		t.Errorf("readiness of no list = %v, want an error", got)
	}
}

func TestHeartbeatsBeforeTheStartDoNotCount(t *testing.T) {
	for name, test := range map[string]struct {
		heartbeat time.Time
		want      bool
	}{
		"later":                     {now.Add(time.Second), true},
		"in the same second":        {now, true},
		"before it was started":     {now.Add(-time.Second), false},
		"not ready":                 {time.Time{}, false},
		"in another zone, the same": {now.In(time.FixedZone("", 3600)), true},
	} {
		t.Run(name, func(t *testing.T) {
			same.As(t, "readySince", test.want, readySince(test.heartbeat, now.Add(900*time.Millisecond)))
		})
	}
}

func TestClientConfigRefusesABrokenKubeconfig(t *testing.T) {
	l := written(t)
	good := must.ReadFile(t, l.Admin())
	if _, err := pki.ClientConfig(good); err != nil {
		t.Errorf("the administrator's own is refused: %v", err)
	}
	for name, content := range map[string]string{
		"empty":        "",
		"no YAML":      "\t{",
		"no key":       strings.ReplaceAll(string(good), "client-key-data", "client-key"),
		"no authority": strings.ReplaceAll(string(good), "certificate-authority-data", "certificate-authority"),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := pki.ClientConfig([]byte(content)); err == nil {
				t.Error("it is accepted")
			}
		})
	}
}

func TestFailureIsPermanentWhenTheProcessHasEnded(t *testing.T) {
	plane := ControlPlane{Layout: cluster, Processes: process.Table{Owner: cluster.State, Proc: t.TempDir()}}
	err := plane.explain(Etcd, errors.New("connection refused"))
	if !errors.Is(err, probe.ErrPermanent) || !strings.Contains(err.Error(), cluster.Log(Etcd)) {
		t.Errorf("error is %v, want it permanent and with the log's path", err)
	}
}
