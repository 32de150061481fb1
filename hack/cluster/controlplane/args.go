package controlplane

import (
	"fmt"
	"net"
	"strconv"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
)

// Names of the processes, which are those of the programs.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Proxy             = "kube-proxy"
	DNS               = "coredns"
	Provisioner       = "provisioner"
	Enforcer          = "enforcer"
)

// Components are all processes of the package, in the order of their start.
var Components = []string{Etcd, APIServer, ControllerManager, Scheduler, Proxy, DNS, Provisioner, Enforcer}

// volumeProvisioner is the provisioner's name in storage classes.
const volumeProvisioner = "loadtest.dev/local"

// frontProxyClient is the API server's user at aggregated API servers.
const frontProxyClient = "front-proxy-client"

// arguments are the command lines, by process.
func arguments(l layout.Layout) map[string][]string {
	return map[string][]string{
		Etcd:              etcdArgs(l),
		APIServer:         apiServerArgs(l),
		ControllerManager: controllerManagerArgs(l),
		Scheduler:         schedulerArgs(l),
		Proxy:             {"--config=" + l.Config(proxyFile), "--v=1"},
		DNS:               {"-conf", l.Config(corefile)},
		Provisioner:       {"--kubeconfig=" + l.Kubeconfig(Provisioner), "--name=" + volumeProvisioner, "--folder=" + l.Volumes()},
		Enforcer:          {"--kubeconfig=" + l.Kubeconfig(Enforcer), "--table=" + layout.PolicyTable},
	}
}

func etcdArgs(l layout.Layout) []string {
	client, peer := url(layout.EtcdPort), url(layout.EtcdPeerPort)
	return []string{
		"--name=" + Etcd,
		"--data-dir=" + l.Data(Etcd),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=" + Etcd + "=" + peer,
		"--client-cert-auth",
		"--trusted-ca-file=" + l.Secret("etcd-ca.crt"),
		"--cert-file=" + l.Secret("etcd.crt"),
		"--key-file=" + l.Secret("etcd.key"),
		"--peer-client-cert-auth",
		"--peer-trusted-ca-file=" + l.Secret("etcd-ca.crt"),
		"--peer-cert-file=" + l.Secret("etcd.crt"),
		"--peer-key-file=" + l.Secret("etcd.key"),
		// A cluster that does not outlive a power cut need not wait for the
		// disk, which on a busy host is what makes an API server slow.
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

func apiServerArgs(l layout.Layout) []string {
	issuer := "https://kubernetes.default.svc." + layout.DNSDomain
	return []string{
		// Not 127.0.0.1: pods reach the API server under it.
		"--advertise-address=" + layout.ControlAddress,
		"--bind-address=" + layout.ControlAddress,
		"--secure-port=" + strconv.Itoa(layout.APIPort),
		"--service-cluster-ip-range=" + layout.ServiceRange,

		"--etcd-servers=" + url(layout.EtcdPort),
		"--etcd-cafile=" + l.Secret("etcd-ca.crt"),
		"--etcd-certfile=" + l.Secret("apiserver-etcd-client.crt"),
		"--etcd-keyfile=" + l.Secret("apiserver-etcd-client.key"),

		"--tls-cert-file=" + l.Secret("apiserver.crt"),
		"--tls-private-key-file=" + l.Secret("apiserver.key"),
		"--client-ca-file=" + l.Secret("ca.crt"),
		"--authentication-config=" + l.Config(authenticationFile),
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true", // CNI-like daemons; the Pod Security level of a namespace decides

		// Up to 256 MB.
		"--audit-policy-file=" + l.Config(auditFile),
		"--audit-log-path=" + l.Log(layout.Audit),
		"--audit-log-maxsize=64",
		"--audit-log-maxbackup=3",

		"--service-account-issuer=" + issuer,
		"--service-account-signing-key-file=" + l.Secret("service-account.key"),
		"--service-account-key-file=" + l.Secret("service-account.pub"),

		// Names of nodes do not resolve.
		"--kubelet-preferred-address-types=InternalIP",
		"--kubelet-certificate-authority=" + l.Secret("ca.crt"),
		"--kubelet-client-certificate=" + l.Secret("apiserver-kubelet-client.crt"),
		"--kubelet-client-key=" + l.Secret("apiserver-kubelet-client.key"),

		"--requestheader-client-ca-file=" + l.Secret("front-proxy-ca.crt"),
		"--requestheader-allowed-names=" + frontProxyClient,
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-username-headers=X-Remote-User",
		"--proxy-client-cert-file=" + l.Secret("front-proxy-client.crt"),
		"--proxy-client-key-file=" + l.Secret("front-proxy-client.key"),

		"--profiling=false",
		"--v=1",
	}
}

func controllerManagerArgs(l layout.Layout) []string {
	return append(serving(l, ControllerManager, layout.ControllerManagerPort),
		"--allocate-node-cidrs=false", // each node's range is in its CNI configuration
		"--cluster-cidr="+layout.PodRange,
		"--service-cluster-ip-range="+layout.ServiceRange,
		"--cluster-signing-cert-file="+l.Secret("ca.crt"),
		"--cluster-signing-key-file="+l.Secret("ca.key"),
		"--root-ca-file="+l.Secret("ca.crt"),
		"--service-account-private-key-file="+l.Secret("service-account.key"),
		"--use-service-account-credentials=true",
		"--flex-volume-plugin-dir="+l.Data("volume-plugins"), // it is made, at /usr/libexec by default
		// A node that is lost shows within seconds; its kubelet renews its
		// lease every two.
		"--node-monitor-grace-period=10s",
		"--node-monitor-period=2s",
	)
}

func schedulerArgs(l layout.Layout) []string {
	return serving(l, Scheduler, layout.SchedulerPort)
}

// serving is what the controller manager and the scheduler have in common.
func serving(l layout.Layout, name string, port int) []string {
	kubeconfig := l.Kubeconfig(name)
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=" + layout.ControlAddress,
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + l.Secret(name+".crt"),
		"--tls-private-key-file=" + l.Secret(name+".key"),
		"--leader-elect=false", // there is no other
		"--profiling=false",
		"--v=1",
	}
}

func url(port int) string { return "https://" + address(port) }

func address(port int) string {
	return net.JoinHostPort(layout.ControlAddress, fmt.Sprint(port))
}
