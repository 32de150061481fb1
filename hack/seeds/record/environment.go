package record

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
)

// Environment is on what an experiment ran.
type Environment struct {
	Machine    string `json:"machine"`
	Kernel     string `json:"kernel"`
	Go         string `json:"go"`
	Cluster    string `json:"cluster"`
	Kubernetes string `json:"kubernetes"`
	Commit     string `json:"commit"`
}

// Here is this machine. What the cluster and the repository say is left to the caller.
func Here() Environment {
	release, _, _ := strings.Cut(process.Kernel(), "-")
	return Environment{
		Machine: fmt.Sprintf("%d x %s, %.0f GiB", runtime.NumCPU(), process.Processor(), float64(process.Memory())/(1<<30)),
		Kernel:  "Linux " + release, Go: runtime.Version(),
	}
}
