package main

import (
	"context"
	"fmt"
	"os"
	_ "time/tzdata" // CronJobs name time zones, and the host may have none.

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/kubernetes/enforcer"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/kubernetes/multicall"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/kubernetes/provisioner"
)

// components are the mains of the programs that this one stands for. Each reads
// os.Args, as the component's own program would.
var components = multicall.Mains{
	"etcd":                    runEtcd,
	"kube-apiserver":          server(func() *cobra.Command { return apiserver.NewAPIServerCommand() }),
	"kube-controller-manager": server(controllermanager.NewControllerManagerCommand),
	"kube-scheduler":          server(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kubelet":                 server(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
	"kube-proxy":              server(func() *cobra.Command { return proxy.NewProxyCommand() }),
	"kubectl":                 runKubectl,
	"enforcer":                server(enforcer.NewCommand),
	"provisioner":             server(provisioner.NewCommand),
}

func main() {
	args, run, err := components.Choose(os.Args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Args = args
	os.Exit(run())
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
