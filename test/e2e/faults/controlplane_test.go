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

// away is how long what all need is not there: longer than a leader renews its lease.
const away = 15 * time.Second

// controlPlaneFaults hit runs at a few instants, and at their last write.
func controlPlaneFaults() []func(context.Context) (shared, error) {
	var all []func(context.Context) (shared, error)
	for name, inject := range map[string]func(context.Context) (undo, error){
		"etcd stopped":       func(ctx context.Context) (undo, error) { return stopComponent(ctx, "etcd") },
		"etcd without space": etcdWithoutSpace,
		"DNS stopped":        func(ctx context.Context) (undo, error) { return stopComponent(ctx, "coredns") },
	} {
		all = append(all, func(context.Context) (shared, error) {
			return shared{name: fmt.Sprintf("%s %s", name, away), lasts: away, instants: few(), inject: inject}, nil
		})
	}
	return append(all, allOperatorsKilled)
}

// allOperatorsKilled ends the processes of all replicas at once: none is there to take over.
func allOperatorsKilled(ctx context.Context) (shared, error) {
	pods, err := cluster.OperatorPods(ctx)
	return shared{name: "all operators killed", instants: few(), inject: func(context.Context) (undo, error) {
		var errs []error
		for i := range pods {
			errs = append(errs, signal(&pods[i], syscall.SIGKILL))
		}
		return nil, errors.Join(errs...)
	}}, err
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

// stopComponent stops a process of the control plane by a signal: connections stay, and nothing
// answers.
func stopComponent(ctx context.Context, name string) (undo, error) {
	pid, _, err := component(ctx, name)
	if err != nil {
		return nil, err
	}
	return func(context.Context) error { return syscall.Kill(pid, syscall.SIGCONT) }, syscall.Kill(pid, syscall.SIGSTOP)
}

// etcdWithoutSpace has etcd refuse all writes, as it does when its quota is used up, and answer
// what is read.
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
