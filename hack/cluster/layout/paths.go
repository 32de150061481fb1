package layout

import "path/filepath"

// Default folders of the state, which outlives a reboot, and of sockets and
// mounts, which need not.
const (
	DefaultState = "/var/lib/loadtest-cluster"
	run          = "/run/loadtest-cluster"
)

// Lock is held by the command that changes the cluster. It is beside the run
// folder, which goes away with the cluster.
const Lock = run + ".lock"

// Cgroup is the parent of all control groups of the cluster, below the root of
// each hierarchy.
const Cgroup = "loadtest-cluster"

// Layout is where one cluster has its files.
type Layout struct {
	// State is the folder of everything that is kept.
	State string
	// Run is the folder of sockets and mounts. Its path is short because that
	// of a socket may have 107 bytes.
	Run string
}

// New is the layout of the cluster whose state is in that folder. There is
// one run folder per host, as there is one set of addresses.
func New(state string) Layout { return Layout{State: state, Run: run} }

// Binaries is a link to the folder of the components that the cluster runs.
func (l Layout) Binaries() string { return filepath.Join(l.State, "bin") }

// Binary is the path of a component.
func (l Layout) Binary(name string) string { return filepath.Join(l.Binaries(), name) }

// Config is the path of a configuration file.
func (l Layout) Config(name string) string { return filepath.Join(l.State, "config", name) }

// Secret is the path of a certificate or key.
func (l Layout) Secret(name string) string { return filepath.Join(l.State, "pki", name) }

// Log is the path of a process's log.
func (l Layout) Log(process string) string { return filepath.Join(l.State, "logs", process+".log") }

// Audit is the name of the API server's audit log. When it is full, it is given a name
// with the time behind it.
const Audit = "audit"

// AuditLogs are the files of the audit log, the oldest first.
func (l Layout) AuditLogs() ([]string, error) {
	full, err := filepath.Glob(l.Log(Audit + "-*"))
	return append(full, l.Log(Audit)), err
}

// Data is the path of a component's own data.
func (l Layout) Data(name string) string { return filepath.Join(l.State, "data", name) }

// Volumes is the folder of all pods' volumes: they outlive a node.
func (l Layout) Volumes() string { return filepath.Join(l.State, "volumes") }

// Host is the file with the state of the host before the cluster.
func (l Layout) Host() string { return filepath.Join(l.State, "host.json") }

// Kubeconfig is the path of the configuration with which user calls the API.
func (l Layout) Kubeconfig(user string) string {
	return filepath.Join(l.State, "kubeconfig", user)
}

// Admin is the kubeconfig of the cluster's administrator.
func (l Layout) Admin() string { return l.Kubeconfig("admin") }

// Owner is the file that names the state folder of the host's one cluster.
func (l Layout) Owner() string { return filepath.Join(l.Run, "state-dir") }

// Node is where node n has its files.
func (l Layout) Node(n int) Node {
	name := NodeName(n)
	return Node{
		Number: n,
		State:  filepath.Join(l.State, name),
		Run:    filepath.Join(l.Run, name),
	}
}

// Node is where one node has its files.
type Node struct {
	Number int
	// State is the node's disk: images, containers, volumes, pod logs.
	State string
	// Run is what the node loses in a power cut.
	Run string
}

// Name is the node's name in the cluster.
func (n Node) Name() string { return NodeName(n.Number) }

// Socket is that of the node's containerd.
func (n Node) Socket() string { return filepath.Join(n.Run, "containerd.sock") }

// Cgroup is the parent of the node's pods.
func (n Node) Cgroup() string { return filepath.Join(Cgroup, n.Name()) }

// Path is a path on the node's disk.
func (n Node) Path(name string) string { return filepath.Join(n.State, name) }

// Process is the name of one of the node's processes.
func (n Node) Process(name string) string { return filepath.Join(n.Name(), name) }
