//go:build e2e

package faults

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

// These faults are of what the API server and pods need, on the local cluster.

// outage is longer than a leader may take to renew its lease.
const outage = 15 * time.Second

// controlPlaneFaults hit runs at a few instants, among them their last write.
func controlPlaneFaults() []func(context.Context) (shared, error) {
	of := func(name string, lasts time.Duration, inject func(context.Context) (undo, error)) func(context.Context) (shared, error) {
		return func(context.Context) (shared, error) {
			return shared{name: name, lasts: lasts, instants: few(), inject: inject}, nil
		}
	}
	return []func(context.Context) (shared, error){
		of(fmt.Sprintf("etcd stopped %s", outage), outage, stopComponent("etcd")),
		of(fmt.Sprintf("etcd without space %s", outage), outage, etcdWithoutSpace),
		of(fmt.Sprintf("DNS stopped %s", outage), outage, stopComponent("coredns")),
		of("all operators killed", 0, killOperators),
	}
}

// killOperators ends the processes of all replicas at once: none is there to take over.
func killOperators(ctx context.Context) (undo, error) {
	pods, err := cluster.OperatorPods(ctx)
	for i := range pods {
		err = errors.Join(err, signal(&pods[i], syscall.SIGKILL))
	}
	return nil, err
}

// component is a process of the control plane, and its command line.
func component(ctx context.Context, name string) (pid int, args []string, err error) {
	kubeconfig, err := cluster.Command(ctx, "cluster", "kubeconfig", "--path")
	if err != nil {
		return 0, nil, err
	}
	state := filepath.Dir(filepath.Dir(strings.TrimSpace(kubeconfig)))
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return 0, nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// Tests beside this one may run an etcd of their own.
		args := strings.Split(string(text), "\x00")
		if filepath.Base(args[0]) == name && strings.Contains(string(text), state) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return pid, args, err
		}
	}
	return 0, nil, fmt.Errorf("no process of %s is %s", state, name)
}

// stopComponent stops a process of the control plane by a signal: its connections stay open, and it
// does not answer.
func stopComponent(name string) func(context.Context) (undo, error) {
	return func(ctx context.Context) (undo, error) {
		pid, _, err := component(ctx, name)
		if err != nil {
			return nil, err
		}
		return func(context.Context) error { return syscall.Kill(pid, syscall.SIGCONT) }, syscall.Kill(pid, syscall.SIGSTOP)
	}
}

// etcdWithoutSpace makes etcd refuse all writes, as it does when its quota is used up. It goes on to
// answer reads.
func etcdWithoutSpace(ctx context.Context) (undo, error) {
	_, etcd, err := component(ctx, "etcd")
	if err != nil {
		return nil, err
	}
	_, server, err := component(ctx, "kube-apiserver")
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(flagOf(server, "etcd-certfile"), flagOf(server, "etcd-keyfile"))
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(flagOf(server, "etcd-cafile"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots}}}
	alarm := func(ctx context.Context, action string) error {
		body := fmt.Appendf(nil, `{"action": %q, "alarm": "NOSPACE", "memberID": "0"}`, action)
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, flagOf(etcd, "listen-client-urls")+"/v3/maintenance/alarm", bytes.NewReader(body))
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("etcd: %s to %s the alarm", response.Status, action)
		}
		return nil
	}
	return func(ctx context.Context) error { return alarm(ctx, "DEACTIVATE") }, alarm(ctx, "ACTIVATE")
}

// flagOf is the value of a flag in a command line.
func flagOf(args []string, name string) string {
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			return value
		}
	}
	return ""
}
