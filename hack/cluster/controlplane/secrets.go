package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/pki"
)

// users are the holders of kubeconfigs, by the names of RBAC's built-in bindings.
// The bindings of the last three are among our objects.
func users() map[string]pki.Request {
	users := map[string]pki.Request{
		"admin":                   {User: "admin", Groups: []string{"system:masters"}},
		"kube-controller-manager": {User: "system:kube-controller-manager"},
		"kube-scheduler":          {User: "system:kube-scheduler"},
		"kube-proxy":              {User: "system:kube-proxy"},
		"coredns":                 {User: dnsUser},
		Provisioner:               {User: provisionerUser},
		Enforcer:                  {User: enforcerUser},
	}
	for n := 1; n <= layout.Nodes; n++ {
		name := layout.NodeName(n)
		users[name] = pki.Request{User: "system:node:" + name, Groups: []string{"system:nodes"}}
	}
	return users
}

// kubeletClient is the API server's user at kubelets.
const kubeletClient = "kube-apiserver-kubelet-client"

// certificates of the cluster's authority, by file name.
func certificates() map[string]pki.Request {
	all := map[string]pki.Request{
		"apiserver": {User: "kube-apiserver", Hosts: []string{
			"kubernetes", "kubernetes.default", "kubernetes.default.svc",
			"kubernetes.default.svc." + layout.DNSDomain,
			"localhost", "127.0.0.1", layout.ControlAddress, layout.APIService,
		}},
		"apiserver-kubelet-client": {User: kubeletClient},
		"kube-controller-manager":  {User: "kube-controller-manager", Hosts: []string{layout.ControlAddress}},
		"kube-scheduler":           {User: "kube-scheduler", Hosts: []string{layout.ControlAddress}},
	}
	for n := 1; n <= layout.Nodes; n++ {
		name := layout.NodeName(n)
		all[name] = pki.Request{User: "system:node:" + name, Hosts: []string{name, layout.NodeAddress(n)}}
	}
	return all
}

// writer writes files of secrets and keeps the first error.
type writer struct {
	layout layout.Layout
	now    time.Time
	err    error
}

// writeSecrets makes all authorities, certificates, keys and kubeconfigs.
func writeSecrets(l layout.Layout, now time.Time) error {
	w := &writer{layout: l, now: now}
	ca := w.authority("ca", "loadtest-cluster")
	for name, request := range certificates() {
		w.pair(name, w.issue(ca, request))
	}
	for name, request := range users() {
		content, err := pki.Kubeconfig(layout.APIServer(), ca.Certificate, name, w.issue(ca, request))
		w.keep(err)
		w.file(l.Kubeconfig(name), content)
	}
	etcd := w.authority("etcd-ca", "loadtest-cluster-etcd")
	w.pair("etcd", w.issue(etcd, pki.Request{User: "etcd", Hosts: []string{layout.ControlAddress}}))
	w.pair("apiserver-etcd-client", w.issue(etcd, pki.Request{User: "kube-apiserver"}))
	proxy := w.authority("front-proxy-ca", "loadtest-cluster-front-proxy")
	w.pair("front-proxy-client", w.issue(proxy, pki.Request{User: frontProxyClient}))

	private, public, err := pki.TokenKey()
	w.keep(err)
	w.file(l.Secret("service-account.key"), private)
	w.file(l.Secret("service-account.pub"), public)
	return w.err
}

func (w *writer) authority(name, subject string) pki.Authority {
	authority, err := pki.NewAuthority(subject, w.now)
	w.keep(err)
	w.pair(name, authority.Pair)
	return authority
}

func (w *writer) issue(authority pki.Authority, request pki.Request) pki.Pair {
	if w.err != nil {
		return pki.Pair{}
	}
	pair, err := authority.Issue(request, w.now)
	w.keep(err)
	return pair
}

func (w *writer) pair(name string, pair pki.Pair) {
	w.file(w.layout.Secret(name+".crt"), pair.Certificate)
	w.file(w.layout.Secret(name+".key"), pair.Key)
}

// file writes a file that only root can read: nearly all of it is secret.
func (w *writer) file(path string, content []byte) {
	if w.err != nil {
		return
	}
	w.keep(os.MkdirAll(filepath.Dir(path), 0o700))
	w.keep(os.WriteFile(path, content, 0o600))
}

func (w *writer) keep(err error) {
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("write secrets: %w", err)
	}
}
