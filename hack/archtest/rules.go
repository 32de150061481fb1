package archtest

import "slices"

// ours is the module whose packages the rules are about. Rules name its
// packages without it.
const ours = "github.com/loadtest-dev/loadtest-operator"

// reach says which imports of a package a rule looks at.
type reach string

const (
	// direct are those that the package's own files name.
	direct reach = "imports"
	// transitive are also all those that come with them.
	transitive reach = "depends on"
)

// rule forbids imports. Its paths are those of this module without its name
// ("api/..."), or full ones ("k8s.io/client-go/..."). A path that ends in /...
// is the package and everything below it; a * is one element.
type rule struct {
	// because is the rule as a sentence.
	because string
	// of are the packages that the rule is about, without those in except.
	of, except []string
	reach      reach
	// forbid are the imports that they may not have, without those in allow.
	forbid, allow []string
}

// pure are the packages that decide.
var pure = []string{
	"controllers/loadtest/lifecycle/...", "controllers/loadtest/plan/...", "controllers/policy/...", "controllers/loadtest/queue/...", "controllers/loadtest/desired/...",
	"controllers/judge/verdict/...", "controllers/judge/changepoint/...", "controllers/judge/results/...", "controllers/coordinator/exchange/...", "controllers/judge/trend/...",
	"controllers/loadtest/baseline/...", "controllers/loadtestschedule/decision/...", "controllers/judge/metric/...", "controllers/judge/rungs/...", "controllers/judge/statistics/...", "controllers/judge/why",
	"controllers/loadtest/targetstate", "controllers/loadtest/question",
}

// clients are the ways to the API server.
var clients = []string{"k8s.io/client-go/...", "sigs.k8s.io/controller-runtime/..."}

// everything of ours but cmd, which wires it together.
var everything = []string{"api/...", "accesslog", "address", "bucket", "expression", "instant", "measure/...", "pace", "selector", "text", "controllers/...", "loadworker/...", "targets/..."}

// tools are what builds, tests and measures the product.
var tools = []string{"hack/...", "test/..."}

var rules = []rule{
	{
		because: "nothing that is shipped needs a tool or a harness",
		of:      slices.Concat(everything, []string{"cmd/..."}),
		reach:   transitive,
		forbid:  tools,
	},
	{
		because: "the command line reads objects: what a run does stands in them, and is not planned or judged again but by what runs it on this machine; what a schedule starts, and which runs sent the same traffic, the operator's own code says",
		of:      []string{"cmd/..."},
		except:  []string{"cmd", "cmd/kubectl-loadtest/local", "cmd/kubectl-loadtest/serve", "cmd/kubectl-loadtest/preview", "cmd/kubectl-loadtest/services", "cmd/kubectl-loadtest/templates"},
		reach:   direct,
		forbid:  everything,
		allow:   []string{"accesslog", "bucket", "api/v1beta1", "api/config/v1alpha1", "controllers/judge/changepoint", "controllers/judge/metric", "controllers/judge/rungs", "controllers/judge/statistics", "controllers/loadtest/baseline", "controllers/loadtest/history", "controllers/loadtestschedule/decision", "measure", "measure/archive", "text"},
	},
	{
		because: "what is shown of a plan before it runs is the operator's first decision about it, and no plan of another expansion",
		of:      []string{"cmd/kubectl-loadtest/preview"},
		reach:   direct,
		forbid:  everything,
		allow:   []string{"api/v1beta1", "controllers/loadtest/lifecycle", "controllers/loadtest/plan", "controllers/policy", "text"},
	},
	{
		because: "a server is asked for its services as a worker asks it, with the same bounds, and nothing else of a run is there",
		of:      []string{"cmd/kubectl-loadtest/services"},
		reach:   direct,
		forbid:  everything,
		allow:   []string{"address", "loadworker/dial", "loadworker/message", "loadworker/reflection", "text"},
	},
	{
		because: "templates are read before a run as a worker reads them, and nothing else of a run is there",
		of:      []string{"cmd/kubectl-loadtest/templates"},
		reach:   direct,
		forbid:  everything,
		allow:   []string{"api/v1beta1", "controllers/loadtest/plan", "loadworker/source", "text"},
	},
	{
		because: "a preview depends neither on a cluster nor on how load is sent",
		of:      []string{"cmd/kubectl-loadtest/preview"},
		reach:   transitive,
		forbid:  slices.Concat(clients, []string{"loadworker/...", "targets/..."}),
	},
	{
		because: "statistics are independent of what they are about",
		of:      []string{"controllers/judge/statistics/..."},
		reach:   transitive,
		forbid:  append([]string{"k8s.io/...", "sigs.k8s.io/..."}, everything...),
	},
	{
		because: "what a metric is depends neither on how it is judged nor on a plan",
		of:      []string{"controllers/judge/metric"},
		reach:   direct,
		forbid:  everything,
		allow:   []string{"api/v1beta1", "measure", "text"},
	},
	{
		because: "what of two runs can be compared depends on what a metric is, and not on how it is judged",
		of:      []string{"controllers/judge/rungs"},
		reach:   direct,
		forbid:  everything,
		allow:   []string{"api/v1beta1", "controllers/judge/metric"},
	},
	{
		because: "a trend is told from what was measured alone",
		of:      []string{"controllers/judge/trend"},
		reach:   direct,
		forbid:  append([]string{"k8s.io/...", "sigs.k8s.io/..."}, everything...),
		allow:   []string{"measure"},
	},
	{
		because: "tests depend on no tool: tools may use what tests share",
		of:      []string{"test/..."},
		reach:   direct,
		forbid:  []string{"hack/..."},
	},
	{
		because: "api imports nothing of ours",
		of:      []string{"api/..."},
		reach:   transitive,
		forbid:  everything,
	},
	{
		because: "pure packages have no client",
		of:      pure,
		reach:   transitive,
		forbid:  clients,
	},
	{
		because: "time, randomness and the workers' words are arguments of pure packages, and they do not log",
		of:      pure,
		reach:   direct,
		forbid: []string{
			"k8s.io/utils/clock/...", "math/rand/...", "crypto/rand", "google.golang.org/grpc/...",
			"log/...", "k8s.io/klog/...", "github.com/go-logr/...", "net/http/...", "os/...",
		},
	},
	{
		because: "the coordinator has no client of the API server: it is told who a worker is (controllers/identity)",
		of:      []string{"controllers/coordinator/..."},
		reach:   transitive,
		forbid:  clients,
	},
	{
		because: "the API server is called by the reconcilers, by what reads and keeps for them, by who knows workers, and by the process",
		of:      []string{"controllers/..."},
		except: []string{
			"controllers/loadtest", "controllers/loadtestschedule", "controllers/loadtest/targetaccess", "controllers/loadtest/targetstate/podreader", "controllers/loadtest/targetstate/usagereader",
			"controllers/loadtest/resultkeeper", "controllers/loadtest/firstread", "controllers/loadtest/history", "controllers/identity", "controllers/replica/...",
		},
		reach:  direct,
		forbid: clients,
	},
	{
		because: "what is asked for targets and results depends on no reconciler",
		of:      []string{"controllers/loadtest/targetaccess", "controllers/loadtest/targetstate/...", "controllers/loadtest/question/...", "controllers/loadtest/resultkeeper"},
		reach:   transitive,
		forbid:  []string{"controllers/loadtest", "controllers/loadtestschedule"},
	},
	{
		because: "what all writes share has no client of its own",
		of:      []string{"controllers/writes"},
		reach:   transitive,
		forbid:  clients,
	},
	{
		because: "neither what makes a process a replica nor who a worker is depends on how runs are reconciled",
		of:      []string{"controllers/replica/...", "controllers/identity"},
		reach:   transitive,
		forbid:  []string{"controllers/loadtest", "controllers/loadtestschedule"},
	},
	{
		because: "controllers depend neither on the worker nor on a target",
		of:      []string{"controllers/..."},
		reach:   transitive,
		forbid:  []string{"loadworker/...", "targets/..."},
	},
	{
		because: "the measurement is a leaf: it depends neither on the worker nor on the operator",
		of:      []string{"measure/..."},
		reach:   transitive,
		forbid:  everything,
		allow:   []string{"measure/...", "text", "api/worker/v1"},
	},
	{
		because: "texts, addresses, access logs, requests to buckets, schedules and instants are for both sides, and depend on neither",
		of:      []string{"accesslog", "text", "address", "bucket", "pace", "instant"},
		reach:   transitive,
		forbid:  everything,
	},
	{
		because: "conditions and selectors of journeys are for both sides, and depend on neither",
		of:      []string{"expression", "selector"},
		reach:   transitive,
		forbid:  everything,
		allow:   []string{"text"},
	},
	{
		because: "workers and targets depend neither on Kubernetes nor on the operator",
		of:      []string{"loadworker/...", "targets/..."},
		reach:   transitive,
		forbid:  []string{"k8s.io/...", "sigs.k8s.io/...", "controllers/...", "api/v1beta1"},
	},
	{
		because: "the assembly of a runner depends on no coordinator, and its caller reads the environment",
		of:      []string{"loadworker/assemble"},
		reach:   direct,
		forbid:  []string{"google.golang.org/grpc/...", "loadworker/session", "flag"},
	},
	{
		because: "a run on this machine is made of what runs in a cluster, without the API server's client, and depends on no target",
		of:      []string{"cmd/kubectl-loadtest/local"},
		reach:   transitive,
		forbid:  slices.Concat(clients, []string{"controllers/loadtest", "targets/..."}),
	},
	{
		because: "the first command that a person types compiles no client of a cluster",
		of:      []string{"cmd/kubectl-loadtest/localcommand", "hack/try"},
		reach:   transitive,
		forbid:  clients,
	},
	{
		because: "the systems that are started for trying depend neither on a load test nor on the driver of a database",
		of:      []string{"cmd/kubectl-loadtest/serve"},
		reach:   transitive,
		forbid: []string{
			"api/...", "controllers/...", "loadworker/...", "measure/...", "k8s.io/...", "sigs.k8s.io/...",
			"github.com/jackc/...", "github.com/redis/...", "github.com/twmb/...", "modernc.org/...", "zombiezen.com/...",
		},
	},
	{
		because: "the worker depends on no target",
		of:      []string{"loadworker/..."},
		reach:   transitive,
		forbid:  []string{"targets/..."},
	},
	{
		because: "targets do not depend on the worker",
		of:      []string{"targets/..."},
		reach:   transitive,
		forbid:  []string{"loadworker/...", "measure/...", "api/..."},
	},
	{
		because: "vegeta is imported where its Attacker drives, and where its formats are read and written",
		of:      append([]string{"cmd/..."}, everything...),
		except:  []string{"loadworker/attack", "loadworker/targetsfile", "loadworker/requestlog", "cmd/kubectl-loadtest/report/vegeta", "cmd/kubectl-loadtest/draft"},
		reach:   direct,
		forbid:  []string{"github.com/tsenart/vegeta/..."},
	},
}
