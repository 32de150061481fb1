//go:build cluster

package test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
)

// policies goes from no policy to one that denies, one that allows beside it, one
// for the way out, and back to none.
func (h *host) policies() {
	h.wantNoTable()
	h.inProbe("apply", "--filename=testdata/callers.yaml")
	h.inProbe("wait", "--for=condition=Ready", "pod/friend", "pod/stranger", "--timeout=3m")
	targets := h.targets()
	h.await("no policy", targets, map[string]bool{"friend": true, "stranger": true})

	held := h.hold("stranger", targets["the other node"])
	h.inProbe("apply", "--filename=testdata/deny.yaml")
	h.await("a policy that denies", targets, map[string]bool{"friend": false, "stranger": false})
	if got := held(); got != "cut" {
		h.Errorf("the connection that was there is %q, want it cut", got)
	}
	h.inProbe("apply", "--filename=testdata/allow.yaml")
	h.await("a policy that allows friends", targets, map[string]bool{"friend": true, "stranger": false})
	address := h.inProbe("get", "pod/stranger", "--output=jsonpath={.status.podIP}") + ":8080"
	stranger := map[string]string{"the stranger's address": address}
	h.await("no policy for friends", stranger, map[string]bool{"friend": true})
	h.inProbe("apply", "--filename=testdata/egress.yaml")
	h.await("a policy for what friends call", stranger, map[string]bool{"friend": false})
	h.await("a policy for what friends call", targets, map[string]bool{"friend": true, "stranger": false})
	// Probes of kubelets are not for policies: the server has stayed ready.
	h.inProbe("wait", "--for=condition=Available", "deployment/server", "--timeout=1s")

	h.inProbe("delete", "--filename=testdata/egress.yaml", "--filename=testdata/allow.yaml", "--filename=testdata/deny.yaml")
	h.await("no policy again", targets, map[string]bool{"friend": true, "stranger": true})
	h.wantNoTable()
	h.inProbe("delete", "--filename=testdata/callers.yaml")
}

func (h *host) inProbe(args ...string) string {
	h.Helper()
	return h.kubectl("", append([]string{"--namespace=probe"}, args...)...)
}

// targets are the ways to the server, from node-1.
func (h *host) targets() map[string]string {
	h.Helper()
	pods := map[string]string{}
	out := h.inProbe("get", "pods", "--selector=app=server", "--field-selector=status.phase=Running",
		"--output=jsonpath={range .items[*]}{.spec.nodeName}={.status.podIP} {end}")
	for entry := range strings.FieldsSeq(out) {
		node, address, _ := strings.Cut(entry, "=")
		pods[node] = address + ":8080"
	}
	return map[string]string{"the same node": pods["node-1"], "the other node": pods["node-2"], "the service": "server:80"}
}

// await waits until each caller reaches all targets or none, as it should.
func (h *host) await(what string, targets map[string]string, want map[string]bool) {
	h.Helper()
	all := map[string]bool{}
	for caller, open := range want {
		for target := range targets {
			all[caller+" by "+target] = open
		}
	}
	var diff string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		got := map[string]bool{}
		for caller := range want {
			for target, address := range targets {
				got[caller+" by "+target] = h.inProbe("exec", caller, "--", "/probe", "dial", address) == "open\n"
			}
		}
		if diff = cmp.Diff(all, got); diff == "" {
			return
		}
	}
	h.Fatalf("with %s, open connections (-want +got):\n%s", what, diff)
}

// hold keeps a connection from a pod, and returns how it ends.
func (h *host) hold(pod, address string) (ends func() string) {
	h.Helper()
	command := exec.Command(filepath.Join(h.assets, "kubectl"), "--namespace=probe", "exec", pod, "--", "/probe", "hold", address)
	command.Env = append(os.Environ(), "KUBECONFIG="+layout.New(layout.DefaultState).Admin())
	out, err := command.StdoutPipe()
	must.Succeed(h, err)
	must.Succeed(h, command.Start())
	// A connection that is not cut would be held forever.
	limit := time.AfterFunc(2*time.Minute, func() { _ = command.Process.Kill() })
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "open" {
		h.Fatalf("hold %s says %q, %v", address, lines.Text(), lines.Err())
	}
	return func() string {
		defer limit.Stop()
		lines.Scan()
		_ = command.Wait() // if it was killed, the line is empty
		return lines.Text()
	}
}

// wantNoTable makes sure that policies cost nothing where there are none.
func (h *host) wantNoTable() {
	h.Helper()
	if tables := run(h.T, exec.Command("nft", "list", "tables")); strings.Contains(tables, layout.PolicyTable) {
		h.Errorf("there is no policy, but a table:\n%s", tables)
	}
}
