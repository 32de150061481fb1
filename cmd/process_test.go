package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// asOperator is the environment variable by which this program is the operator.
const asOperator = "LOADTEST_TEST_AS_OPERATOR"

// hosts counts the replicas of all tests.
var hosts atomic.Int32

// seldom skips what processes show once more: the leases are held in virtual time
// (TestReplicaStopsInTime), and each process takes a second of processor time.
func seldom(t *testing.T) {
	if os.Getenv("FULL") == "" {
		t.Skip("starts processes that wait for leases of 8 s, which TestReplicaStopsInTime holds in virtual time; set FULL=1")
	}
}

// operators are the replicas of one namespace, as processes. They reach the API server
// over a link that can be cut.
type operators struct {
	t         *testing.T
	namespace string
	client    client.Client
	link      *link
	config    string // file
	started   int
}

func newOperators(t *testing.T) *operators {
	t.Parallel()
	config := apiserver.Config(t)
	o := &operators{
		t: t, namespace: apiserver.Namespace(t), client: apiserver.Client(t),
		link: newLink(t, config.Host), config: filepath.Join(t.TempDir(), "kubeconfig"),
	}
	file := clientcmdapi.NewConfig()
	file.Clusters["c"] = &clientcmdapi.Cluster{Server: "https://" + o.link.address, CertificateAuthorityData: config.CAData}
	file.AuthInfos["u"] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	file.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	file.CurrentContext = "x"
	must.Succeed(t, clientcmd.WriteToFile(*file, o.config))
	return o
}

// operator is one replica.
type operator struct {
	t                            *testing.T
	process                      *os.Process
	ip                           string // of its pod
	coordinator, probes, metrics string // host:port
	exited                       chan struct{}
	exitErr                      error // once exited
	mu                           sync.Mutex
	output                       bytes.Buffer
}

// Write takes what the process logs.
func (p *operator) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.Write(b)
}

func (p *operator) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

func (o *operators) start(more ...string) *operator {
	o.t.Helper()
	o.started++
	p := &operator{
		t: o.t, ip: fmt.Sprintf("10.1.0.%d", o.started), exited: make(chan struct{}),
	}
	// Each has the ports of a pod, at an address of its own: a port that is free now may
	// be another program's when a replica closes it for a while.
	host := fmt.Sprintf("127.%d.%d.%d", 1+os.Getpid()/256%255, os.Getpid()%256, hosts.Add(1))
	p.coordinator, p.probes, p.metrics = host+":9443", host+":8081", host+":8443"
	program, err := os.Executable()
	must.Succeed(o.t, err)
	command := exec.Command(program, append([]string{
		"--coordinator-advertise=leader:9443", "--coordinator-service=leader", "--worker-image=worker",
		"--namespace=" + o.namespace, "--watch-namespaces=" + o.namespace, "--metrics-bind-address=" + p.metrics,
		"--coordinator-bind-address=" + p.coordinator, "--health-probe-bind-address=" + p.probes,
	}, more...)...)
	command.Env = []string{asOperator + "=1", "KUBECONFIG=" + o.config, "POD_IP=" + p.ip, "HOME=" + o.t.TempDir()}
	command.Stdout, command.Stderr = p, p
	must.Succeed(o.t, command.Start())
	p.process = command.Process
	go func() {
		p.exitErr = command.Wait()
		close(p.exited)
	}()
	o.t.Cleanup(func() {
		_ = p.process.Kill()
		<-p.exited
		if o.t.Failed() {
			o.t.Logf("%s:\n%s", p.ip, p.log())
		}
	})
	return p
}

func (p *operator) signal(s syscall.Signal) {
	p.t.Helper()
	must.Succeed(p.t, p.process.Signal(s))
}

// endsInOrder tells the process to end, and waits until it has.
func (p *operator) endsInOrder() {
	p.t.Helper()
	select {
	case <-p.exited:
		p.t.Fatalf("the process ended by itself: %v", p.exitErr)
	default:
	}
	p.signal(syscall.SIGTERM)
	select {
	case <-p.exited:
		if p.exitErr != nil {
			p.t.Errorf("the process ended with %v", p.exitErr)
		}
	case <-time.After(await.Patience):
		p.t.Error("the process does not end")
	}
}

func (p *operator) probe(path string) int {
	client := http.Client{Timeout: await.Patience}
	answer, err := client.Get("http://" + p.probes + path)
	if err != nil {
		return 0
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

func (p *operator) ready() bool { return p.probe("/readyz") == http.StatusOK }
func (p *operator) alive() bool { return p.probe("/healthz") == http.StatusOK }

// serves says whether workers can connect.
func (p *operator) serves() bool {
	conn, err := net.DialTimeout("tcp", p.coordinator, time.Second)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// leads says whether the Service is directed to a replica.
func (o *operators) leads(p *operator) bool {
	var slice discoveryv1.EndpointSlice
	err := o.client.Get(o.t.Context(), client.ObjectKey{Namespace: o.namespace, Name: "leader"}, &slice)
	return err == nil && slice.Endpoints[0].Addresses[0] == p.ip
}

// pair starts two replicas: the one that leads, and the other.
func (o *operators) pair() (leader, standby *operator) {
	o.t.Helper()
	leader = o.lead()
	standby = o.start()
	// A leader that had no processor for as long as its lease lasts is the standby of the other.
	await.Until(o.t, "one of two replicas leads and the other is ready", func() error {
		if o.leads(standby) {
			leader, standby = standby, leader
		}
		if !o.leads(leader) || !leader.ready() || !leader.serves() || !standby.ready() || standby.serves() {
			return fmt.Errorf("%s leads: %t, %s serves: %t", leader.ip, o.leads(leader), standby.ip, standby.serves())
		}
		return nil
	})
	return leader, standby
}

// lead starts the only replica, and returns it once it leads.
func (o *operators) lead(more ...string) *operator {
	o.t.Helper()
	only := o.start(more...)
	await.True(o.t, "it leads", func() bool { return o.leads(only) && only.ready() && only.serves() })
	return only
}
