//go:build cluster

package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/process"
	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/images/archive"
	"github.com/loadtest-dev/loadtest-operator/hack/images/rootfs"
)

// host runs the program under test and its kubectl.
type host struct {
	*testing.T
	program, assets string
	before          Footprint
}

// TestCluster is one test with steps, because there is one cluster per host
// and each step goes on from the one before.
func TestCluster(t *testing.T) {
	h := newHost(t)
	if err := exec.Command(h.program, "status").Run(); err == nil {
		t.Fatal("a cluster runs on this host: take it down first (cluster down)")
	}
	h.cluster("down") // what an earlier, failed test has left
	unrelated := unrelatedProcess(t)
	h.before = footprint(t)
	t.Cleanup(func() { h.T = t; h.cluster("down") })

	for _, step := range []struct {
		name string
		run  func(*host)
	}{
		{"up makes three ready nodes within 30 seconds and 2 GiB", (*host).up},
		{"a second up changes nothing", (*host).upAgain},
		{"load brings an image to every node", (*host).load},
		{"pods of a job spread, resolve, call a service and have a token", (*host).job},
		{"a token of our own audience is good for that audience only", (*host).token},
		{"network policies cut connections, let some through, and go", (*host).policies},
		{"a volume follows its pod to another node, and goes with its claim", (*host).volume},
		{"a node that loses its power is noticed, and comes back", (*host).powerCut},
		{"up repairs a cluster that was killed", (*host).repair},
	} {
		if !t.Run(step.name, func(t *testing.T) { h.T = t; step.run(h) }) {
			t.FailNow()
		}
	}

	h.T = t
	h.cluster("down")
	after := footprint(t)
	if changes := Difference(h.before, after); len(changes) > 0 {
		t.Errorf("the cluster has left:\n%s", strings.Join(changes, "\n"))
	}
	if !slices.Contains(after["processes"], unrelated) {
		t.Errorf("the cluster has ended process %s, which is not its own", unrelated)
	}
	h.cluster("down") // a second one succeeds
}

func newHost(t *testing.T) *host {
	t.Helper()
	folder := t.TempDir()
	program := filepath.Join(folder, "cluster")
	run(t, exec.Command("go", "build", "-o", program, ".."))
	h := &host{T: t, program: program}
	h.assets = strings.TrimSpace(h.cluster("assets"))
	return h
}

func footprint(t *testing.T) Footprint {
	t.Helper()
	f, err := Take()
	must.Succeed(t, err)
	return f
}

func run(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", command.Args, err, out, stderr.String())
	}
	return string(out)
}

func (h *host) cluster(args ...string) string {
	h.Helper()
	return run(h.T, exec.Command(h.program, args...))
}

func (h *host) kubectl(input string, args ...string) string {
	h.Helper()
	command := exec.Command(filepath.Join(h.assets, "kubectl"), args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+layout.New(layout.DefaultState).Admin())
	command.Stdin = strings.NewReader(input)
	return run(h.T, command)
}

func (h *host) up() {
	begun := time.Now()
	h.cluster("up")
	h.Logf("up after %s\n%s", time.Since(begun).Round(100*time.Millisecond), h.cluster("status"))
	h.wantReady("node-1", "node-2", "node-3")
	h.wantVisible()
	// The margin is wide enough for a busy host.
	if used := h.memory(); used > 2<<30 {
		h.Errorf("the cluster takes %d MiB, want at most 2048", used>>20)
	}
}

// wantVisible checks that the footprint shows a running cluster: otherwise an
// unchanged footprint would prove nothing. Nodes are ready before kube-proxy has
// made its first rules.
func (h *host) wantVisible() {
	h.Helper()
	missing := aspectsOfACluster
	for deadline := time.Now().Add(time.Minute); len(missing) > 0 && time.Now().Before(deadline); {
		seen := strings.Join(Difference(h.before, footprint(h.T)), "\n")
		missing = slices.DeleteFunc(slices.Clone(missing), func(aspect string) bool {
			return strings.Contains(seen, aspect+": ")
		})
	}
	if len(missing) > 0 {
		h.Errorf("a running cluster does not show in the footprint's %s", strings.Join(missing, ", "))
	}
}

var aspectsOfACluster = []string{
	"links", "addresses", "routes", "iptables", "ip6tables", "nftables", "processes", "cgroups", "folders", "settings",
}

func (h *host) memory() (total int64) {
	table := process.Table{Owner: layout.DefaultState}
	for _, p := range h.processes() {
		share, err := table.Memory(p.PID)
		if err != nil && p.Leader { // a child may have ended meanwhile
			h.Fatal(err)
		}
		total += share
	}
	return total
}

func (h *host) processes() []process.Process {
	h.Helper()
	all, err := process.Table{Owner: layout.DefaultState}.List()
	must.Succeed(h, err)
	return all
}

func (h *host) wantReady(nodes ...string) {
	h.Helper()
	for _, node := range nodes {
		h.kubectl("", "wait", "--for=condition=Ready", "node/"+node, "--timeout=3m")
	}
}

// upAgain checks that a second up starts no process. A process that the others
// start, as kube-proxy starts iptables, ends by itself.
func (h *host) upAgain() {
	want := slices.DeleteFunc(h.processes(), func(p process.Process) bool { return !p.Leader })
	h.cluster("up")
	var diff string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if diff = cmp.Diff(want, h.processes()); diff == "" {
			return
		}
	}
	h.Errorf("processes after a second up (-want +got):\n%s", diff)
}

func (h *host) load() {
	program := filepath.Join(h.TempDir(), "probe")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./probe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	run(h.T, build)
	content := must.ReadFile(h, program)
	tree := rootfs.Tree{}
	tree.File("probe", 0o755, content)
	image, err := tree.Image(rootfs.Run{Entrypoint: []string{"/probe"}})
	must.Succeed(h, err)
	const name = "loadtest.dev/probe:test"
	if _, err := archive.Save(program+".tar", name, image); err != nil {
		h.Fatal(err)
	}
	h.cluster("load", program+".tar")
	h.cluster("load", program+".tar")
	for n := 1; n <= layout.Nodes; n++ {
		socket := layout.New(layout.DefaultState).Node(n).Socket()
		images := run(h.T, exec.Command("ctr", "--address", socket, "--namespace", "k8s.io", "images", "list", "--quiet"))
		if !strings.Contains(images, name+"\n") {
			h.Errorf("node-%d has the images\n%s\nand not %s", n, images, name)
		}
	}
}

func (h *host) job() {
	h.kubectl("", "apply", "--filename=testdata/server.yaml")
	h.kubectl("", "--namespace=probe", "rollout", "status", "deployment/server", "--timeout=3m")
	begun := time.Now()
	h.kubectl("", "apply", "--filename=testdata/job.yaml")
	h.kubectl("", "--namespace=probe", "wait", "--for=condition=Complete", "job/spread", "--timeout=3m")
	h.Logf("the job took %s", time.Since(begun).Round(100*time.Millisecond))
	for _, app := range []string{"server", "spread"} {
		h.wantSpread(app)
	}
	if got := h.logs("resolve"); len(strings.Fields(got)) != layout.Nodes {
		h.Errorf("pods resolved the service to %q, want one address each", got)
	}
	for name := range strings.FieldsSeq(h.logs("get")) {
		if !strings.HasPrefix(name, "server-") {
			h.Errorf("the service answered %q, want the name of a pod of server", name)
		}
	}
}

func (h *host) wantSpread(app string) {
	h.Helper()
	nodes := map[string]int{}
	out := h.kubectl("", "--namespace=probe", "get", "pods", "--selector=app="+app,
		"--output=jsonpath={range .items[*]}{.spec.nodeName} {end}")
	for node := range strings.FieldsSeq(out) {
		nodes[node]++
	}
	want := map[string]int{"node-1": 1, "node-2": 1, "node-3": 1}
	if diff := cmp.Diff(want, nodes); diff != "" {
		h.Errorf("pods of %s by node (-want +got):\n%s", app, diff)
	}
}

// logs are of one container of all pods of the job: kubectl, the API server, a
// kubelet on each node and its containerd.
func (h *host) logs(container string) string {
	h.Helper()
	return h.kubectl("", "--namespace=probe", "logs", "--selector=app=spread", "--container="+container)
}

func (h *host) token() {
	token := strings.Fields(h.logs("token"))[0] // of the first of three pods
	for audience, want := range map[string]bool{"loadtest.dev/probe": true, "loadtest.dev/other": false} {
		review := fmt.Sprintf(`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview",
			"spec":{"token":%q,"audiences":[%q]}}`, token, audience)
		var answer struct {
			Status struct {
				Authenticated bool
				User          struct{ Username string }
				Error         string
			}
		}
		out := h.kubectl(review, "create", "--filename=-", "--output=json")
		must.Succeed(h, json.Unmarshal([]byte(out), &answer))
		if answer.Status.Authenticated != want {
			h.Errorf("token for audience %q: %+v, want authenticated %t", audience, answer.Status, want)
		}
		if want && answer.Status.User.Username != "system:serviceaccount:probe:default" {
			h.Errorf("token is of user %q", answer.Status.User.Username)
		}
	}
}

func (h *host) volume() {
	probe := func(args ...string) string {
		h.Helper()
		return h.kubectl("", append([]string{"--namespace=probe"}, args...)...)
	}
	probe("apply", "--filename=testdata/volume.yaml", "--selector=step=write")
	probe("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/writer", "--timeout=3m")
	probe("delete", "pod/writer", "--timeout=3m")
	probe("apply", "--filename=testdata/volume.yaml", "--selector=step=read")
	probe("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/reader", "--timeout=3m")
	if got, want := probe("logs", "pod/reader"), "written on node-1\n"; got != want {
		h.Errorf("the pod on the other node read %q, want %q", got, want)
	}

	name := probe("get", "persistentvolumeclaim/data", "--output=jsonpath={.spec.volumeName}")
	folder := filepath.Join(layout.New(layout.DefaultState).Volumes(), name)
	if _, err := os.Stat(folder); err != nil {
		h.Errorf("the volume's folder: %v", err)
	}
	probe("delete", "pod/reader", "persistentvolumeclaim/data", "--timeout=3m")
	h.kubectl("", "wait", "--for=delete", "persistentvolume/"+name, "--timeout=3m")
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		h.Errorf("the volume's folder is still there (%v)", err)
	}
}

func (h *host) powerCut() {
	begun := time.Now()
	h.cluster("node", "stop", "2")
	h.kubectl("", "wait", "--for=condition=Ready=Unknown", "node/node-2", "--timeout=3m")
	h.Logf("node-2 was noticed to be lost after %s", time.Since(begun).Round(time.Second))
	for _, p := range h.processes() {
		if strings.HasPrefix(p.Name, "node-2/") {
			h.Errorf("process %d (%s) has survived the power cut", p.PID, p.Name)
		}
	}
	begun = time.Now()
	h.cluster("node", "start", "2")
	h.Logf("node-2 was back after %s", time.Since(begun).Round(100*time.Millisecond))
	h.wantReady("node-2")
	h.kubectl("", "--namespace=probe", "rollout", "status", "deployment/server", "--timeout=3m")
}

func (h *host) repair() {
	killed := h.processes()
	must.Succeed(h, (process.Table{Owner: layout.DefaultState}).Stop(killed, 0))
	if err := exec.Command(h.program, "status").Run(); err == nil {
		h.Error("status has exit code 0 on a cluster without processes")
	}
	h.cluster("up")
	h.wantReady("node-1", "node-2", "node-3")
	if !strings.Contains(h.cluster("kubeconfig"), layout.APIServer()) {
		h.Error("the kubeconfig does not name the API server")
	}
}
