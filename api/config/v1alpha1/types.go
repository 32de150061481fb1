package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// APIVersion and Kind are those of a configuration.
	APIVersion = "config.loadtest.dev/v1alpha1"
	Kind       = "OperatorConfiguration"
	// SwitchKind is that of a switch.
	SwitchKind = "Switch"
	// ConfigKey and SwitchKey are the keys of the ConfigMap.
	ConfigKey = "config.yaml"
	SwitchKey = "stop.yaml"
	// NamespaceLabel is the label by which a namespace accepts load from the LoadTests of
	// all namespaces, if its value is "true".
	NamespaceLabel = "loadtest.dev/accepts-load"
)

// OperatorConfiguration is what the administrator decides. The zero value, and an empty
// document, is a strict configuration: LoadTests send load to Services of their own
// namespace and of namespaces that accept it, with the release's own worker image.
type OperatorConfiguration struct {
	metav1.TypeMeta `json:",inline"`

	// targets is where LoadTests may send load to.
	Targets Targets `json:"targets,omitzero"`

	// limits are how large a LoadTest may be, and how many run at once.
	Limits Limits `json:"limits,omitzero"`

	// priorityClasses are the names that a LoadTest may have as spec.queue.priorityClass,
	// which decides its place in the queue. Without one the priority is 0. They are not
	// PriorityClasses of Kubernetes: pods do not have them.
	PriorityClasses []PriorityClass `json:"priorityClasses,omitempty"`

	// workers are what a LoadTest may ask for its workers' pods.
	Workers []WorkerRule `json:"workers,omitempty"`

	// stop ends runs and lets none begin. Absent: it does not. kubectl loadtest stop
	// writes a Switch instead.
	Stop *Stop `json:"stop,omitempty"`

	// quietHours are the times of day at which no run goes on.
	QuietHours []QuietHours `json:"quietHours,omitempty"`

	// results are kept beyond the LoadTest. Absent: they are deleted with it.
	Results *Results `json:"results,omitempty"`

	// prometheus is asked at the end of each step about what a target waits for. Absent: it is
	// not.
	Prometheus *Prometheus `json:"prometheus,omitempty"`
}

// Targets is where LoadTests may send load to. Services of the LoadTest's own namespace,
// and of namespaces with the label loadtest.dev/accepts-load: "true", are always allowed,
// as long as pods are behind them. Loopback, link-local, multicast and metadata addresses,
// nodes, the API server and the operator can never be targets.
type Targets struct {
	// clusterDomain is the domain of the cluster's Services. Default cluster.local.
	ClusterDomain string `json:"clusterDomain,omitempty"`

	// never are further ranges of addresses that can never be targets, such as the network
	// of a database. Example: ["10.0.0.0/24"].
	Never []string `json:"never,omitempty"`

	// rules allow more targets. A target is allowed by any rule.
	Rules []TargetRule `json:"rules,omitempty"`
}

// TargetRule allows targets beside Services of the cluster.
type TargetRule struct {
	// namespaces are the namespaces of the LoadTests that the rule applies to: names, or
	// patterns with a * for any characters. Absent: all. Example: [team-a, "shop-*"].
	Namespaces []string `json:"namespaces,omitempty"`

	// hosts are host names, all names below a domain ("*.example.com"), or "*" for all.
	// What a name resolves to is checked as well: public addresses are allowed, and
	// private ones only as cidrs has them.
	Hosts []string `json:"hosts,omitempty"`

	// cidrs are ranges of addresses: of URLs with an address, and of what hosts resolve
	// to. Example: ["10.20.0.0/16"].
	CIDRs []string `json:"cidrs,omitempty"`

	// ports are ports and ranges of them. Absent: all. Example: ["443", "8000-8999"].
	Ports []string `json:"ports,omitempty"`

	// proxies says that the hosts and cidrs of this rule may be the proxy of a target:
	// behind one, the operator checks only the name of the target, and not where it
	// leads.
	Proxies bool `json:"proxies,omitempty"`
}

// Limits are how large a LoadTest may be, and how many run at once.
type Limits struct {
	// runs is the number of LoadTests that run at once in the cluster. More wait in a queue.
	// Default 50.
	Runs *int32 `json:"runs,omitempty"`

	// workers is the number of workers that run at once in the cluster; runs that need more
	// wait, and so do the runs behind them. A LoadTest may not have more. Default 1000.
	Workers *int32 `json:"workers,omitempty"`

	// namespaces are the limits of each namespace: the first entry that names it counts.
	// For what an entry leaves out, the default holds.
	Namespaces []NamespaceLimits `json:"namespaces,omitempty"`
}

// NamespaceLimits are the limits of one namespace. All but runs and workersAtOnce apply to
// each of its LoadTests.
type NamespaceLimits struct {
	// namespaces are as in TargetRule.
	Namespaces []string `json:"namespaces,omitempty"`

	// runs is the number of LoadTests that run at once in each of these namespaces. More wait in a
	// queue. Default 10.
	Runs *int32 `json:"runs,omitempty"`

	// users is the largest number of users of a step, and of connections of a setup over all
	// workers. Default 100000.
	Users *int32 `json:"users,omitempty"`

	// rate is the largest number of requests per second that a step may plan. Users without a
	// rate send as many as are answered. Default 100000.
	Rate *int64 `json:"rate,omitempty"`

	// workers is the largest number of workers of a LoadTest. Default 100.
	Workers *int32 `json:"workers,omitempty"`

	// workersAtOnce is the number of workers that the LoadTests of each of these namespaces have
	// at once, together; runs that need more wait, and so do the runs of the namespace behind
	// them. Default half of limits.workers, and no fewer than workers.
	WorkersAtOnce *int32 `json:"workersAtOnce,omitempty"`

	// duration is the longest time that a run may take by its plan: its steps, pauses and repetitions,
	// all the probes of a search, with a setup startDeadlineSeconds, and twice the longest
	// stored.maxWait of audits. Default 24h.
	Duration *metav1.Duration `json:"duration,omitempty"`

	// held is how long a run may be held between two steps by spec.suspend, while its workers
	// wait and it keeps its place. One that is held for longer ends. Default 1h.
	Held *metav1.Duration `json:"held,omitempty"`

	// bytesPerSecond is the most that a step may plan to send, by its rate and the bodies
	// written in its requests; the size of templates and files is not known. Default 1Gi.
	BytesPerSecond *resource.Quantity `json:"bytesPerSecond,omitempty"`
}

// PriorityClass is a name for a place in the queue. Of classes with the same name, the first
// that applies to a namespace counts there.
type PriorityClass struct {
	// name is the name that LoadTests give. Example: release-gate.
	Name string `json:"name"`

	// value orders the queue: the higher value first, and with the same value the namespace that
	// has the fewest workers under way.
	Value int32 `json:"value"`

	// namespaces are as in TargetRule.
	Namespaces []string `json:"namespaces,omitempty"`
}

// WorkerRule is what LoadTests may ask for their workers' pods. The first rule that names
// a namespace counts. Without one, a LoadTest may choose nodes by the well-known labels of
// their operating system, architecture, zone and region, what its workers take of processors,
// memory and storage, and Secrets whose names begin with loadtest-, and nothing else.
type WorkerRule struct {
	// namespaces are as in TargetRule.
	Namespaces []string `json:"namespaces,omitempty"`

	// images are the images that spec.worker.image may name, beside the release's own: a
	// * stands for any characters. Example: ["registry.example.com/loadtest/*"].
	Images []string `json:"images,omitempty"`

	// pullPolicies are the values of spec.worker.imagePullPolicy. Absent: all.
	PullPolicies []string `json:"pullPolicies,omitempty"`

	// nodeSelectorKeys are the labels of nodes that spec.worker.nodeSelector may name;
	// "*" is all. Absent: the well-known ones.
	NodeSelectorKeys []string `json:"nodeSelectorKeys,omitempty"`

	// tolerationKeys are the taints that spec.worker.tolerations may tolerate; "*" is
	// all, without a key as well. Absent: none.
	TolerationKeys []string `json:"tolerationKeys,omitempty"`

	// labelKeys and annotationKeys are those that spec.worker.labels and spec.worker.annotations
	// may have; a * stands for any characters. A label may make a worker's pod one of a
	// Service, or what a policy for networks applies to. Absent: none.
	LabelKeys      []string `json:"labelKeys,omitempty"`
	AnnotationKeys []string `json:"annotationKeys,omitempty"`

	// priorityClasses are the names that spec.worker.priorityClassName may have; a * stands for
	// any characters. Absent: none.
	PriorityClasses []string `json:"priorityClasses,omitempty"`

	// secrets are the names of the Secrets of its namespace that a LoadTest may use;
	// a * stands for any characters. Absent: ["loadtest-*"]. [] is none.
	Secrets *[]string `json:"secrets,omitempty"`

	// claims are the names of the PersistentVolumeClaims of its namespace that a LoadTest may
	// mount; a * stands for any characters. Absent: ["loadtest-*"]. [] is none.
	Claims *[]string `json:"claims,omitempty"`

	// exposeWithSecrets permits expose Responses in a LoadTest whose requests send values of
	// Secrets: a target that sends them back has them stand in messages, which those may read
	// who may not read the Secret. Default false.
	ExposeWithSecrets bool `json:"exposeWithSecrets,omitempty"`

	// resources are the most that spec.worker.resources may ask for, by name. Without a name
	// here, cpu, memory and ephemeral-storage have no limit, and other resources are not
	// allowed. Example: {cpu: "4", memory: 8Gi}.
	Resources map[string]resource.Quantity `json:"resources,omitempty"`
}

// Switch is what kubectl loadtest stop and resume write. It is a document of its own, so
// that a tool that applies the configuration from elsewhere does not undo it.
type Switch struct {
	metav1.TypeMeta `json:",inline"`

	// stops are in force at the same time, beside the stop of the configuration.
	Stops []Stop `json:"stops,omitempty"`
}

// Stop ends runs within seconds and lets none begin.
type Stop struct {
	// namespaces are as in TargetRule.
	Namespaces []string `json:"namespaces,omitempty"`

	// reason and by stand in the conditions and Events of each run that it ends.
	// Example: "incident 4711" and "jane".
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`

	// since is when it was set. It is for people: a stop is in force until it is removed.
	Since *metav1.Time `json:"since,omitempty"`
}

// QuietHours are hours at which runs end, and none begins.
type QuietHours struct {
	// namespaces are as in TargetRule.
	Namespaces []string `json:"namespaces,omitempty"`

	// days are the days of the week on which the hours begin: Mon, Tue, … Absent: all.
	Days []string `json:"days,omitempty"`

	// from and to are times of day. If to is not after from, it is on the next day.
	// Example: "22:00" and "06:00".
	From string `json:"from"`
	To   string `json:"to"`

	// timeZone is a name of the IANA database. Default UTC. Example: Europe/Berlin.
	TimeZone string `json:"timeZone,omitempty"`

	// reason stands in the conditions. Example: "The nightly batch runs."
	Reason string `json:"reason,omitempty"`
}
