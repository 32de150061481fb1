package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	_ "time/tzdata" // CronJobs name time zones, and the host may know none.

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubectl against clusters of cloud providers.
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// components maps the name under which the program is called to its main.
// A main reads os.Args, as the component's own program would.
var components = map[string]func() int{
	"etcd":                    runEtcd,
	"kube-apiserver":          server(func() *cobra.Command { return apiserver.NewAPIServerCommand() }),
	"kube-controller-manager": server(controllermanager.NewControllerManagerCommand),
	"kube-scheduler":          server(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kubelet":                 server(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
	"kube-proxy":              server(func() *cobra.Command { return proxy.NewProxyCommand() }),
	"kubectl":                 runKubectl,
}

func main() {
	args, run, err := dispatch(os.Args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Args = args
	os.Exit(run())
}

// dispatch chooses the component by the name the program was called under or,
// if that is none of them, by the first argument, which is then dropped.
func dispatch(args []string) ([]string, func() int, error) {
	if len(args) > 0 {
		if run, ok := components[filepath.Base(args[0])]; ok {
			return args, run, nil
		}
	}
	if len(args) > 1 {
		if run, ok := components[args[1]]; ok {
			return args[1:], run, nil
		}
	}
	return nil, nil, fmt.Errorf("call this program under the name of a component, or name one as its first argument: %s",
		strings.Join(names(), ", "))
}

func names() []string {
	all := make([]string, 0, len(components))
	for name := range components {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// server defers the making of a command: each registers its flags and
// metrics globally, so only the one that runs may be made.
func server(newCommand func() *cobra.Command) func() int {
	return func() int { return cli.Run(newCommand()) }
}

func runEtcd() int {
	etcdmain.Main(os.Args)
	return 0
}

func runKubectl() int {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err) // prints it as kubectl does, and exits
	}
	return 0
}
