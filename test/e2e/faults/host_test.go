//go:build e2e

package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

// These faults need the local cluster, whose nodes are processes of this host.

// processes are those of a pod, without the one that holds its namespaces.
func processes(pod *corev1.Pod) ([]int, error) {
	files, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, file := range files {
		folder := filepath.Dir(file)
		groups, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(groups), "/pod"+string(pod.UID)) {
			continue // another's, or it has ended
		}
		if name, err := os.ReadFile(folder + "/comm"); err != nil || strings.TrimSpace(string(name)) == "pause" {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	if len(pids) == 0 {
		return nil, fmt.Errorf("pod %s has no process on this host", pod.Name)
	}
	return pids, nil
}

// signal sends a signal to all processes of a pod.
func signal(pod *corev1.Pod, signal syscall.Signal) error {
	pids, err := processes(pod)
	for _, pid := range pids {
		err = errors.Join(err, syscall.Kill(pid, signal))
	}
	return err
}

// freeze stops the processes of a pod; the function that it returns lets them go on.
func freeze(pod *corev1.Pod) (thaw undo, err error) {
	thaw = func(context.Context) error {
		// A pod that was replaced meanwhile has no process any more.
		_ = signal(pod, syscall.SIGCONT)
		return nil
	}
	return thaw, signal(pod, syscall.SIGSTOP)
}

// exhaust uses up the memory of a pod's container, which has a limit, by a process
// beside the pod's own. The kernel ends the pod's process first, as it is marked.
func exhaust(ctx context.Context, pod *corev1.Pod) error {
	pids, err := processes(pod)
	if err != nil {
		return err
	}
	proc := fmt.Sprintf("/proc/%d", pids[0])
	if err := os.WriteFile(proc+"/oom_score_adj", []byte("1000"), 0); err != nil {
		return err
	}
	group, _, err := controlGroup(proc, "memory")
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "sh", "-c", "echo $$ > "+group+"/cgroup.procs && exec tail /dev/zero").CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		return fmt.Errorf("what used up the memory was not killed itself: %w: %s", err, out)
	}
	return nil
}

// controlGroup is the folder of a process's control group that has a controller: in version 1
// of control groups its own, in version 2 the one of all.
func controlGroup(proc, controller string) (folder string, unified bool, err error) {
	groups, err := os.ReadFile(proc + "/cgroup")
	if err != nil {
		return "", false, err
	}
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if slices.Contains(strings.Split(fields[1], ","), controller) {
			return "/sys/fs/cgroup/" + controller + fields[2], false, nil
		}
		if fields[1] == "" {
			folder = fields[2]
		}
	}
	return "/sys/fs/cgroup" + folder, true, nil
}

// groupsOf are the control groups of a pod's processes that have a controller.
func groupsOf(pod *corev1.Pod, controller string) (folders []string, unified bool, err error) {
	pids, err := processes(pod)
	for _, pid := range pids {
		var folder string
		if folder, unified, err = controlGroup(fmt.Sprintf("/proc/%d", pid), controller); err != nil {
			return nil, false, err
		}
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	return folders, unified, err
}

// setting is what is written to a file of a control group, and what takes it back.
type setting struct{ file, to, back string }

// set writes a setting into control groups.
func set(folders []string, all ...setting) (undo, error) {
	write := func(text func(setting) string) (err error) {
		for _, folder := range folders {
			for _, s := range all {
				err = errors.Join(err, os.WriteFile(folder+"/"+s.file, []byte(text(s)), 0))
			}
		}
		return err
	}
	back := func(context.Context) error { return write(func(s setting) string { return s.back }) }
	return back, write(func(s setting) string { return s.to })
}

// freezeGroup freezes the control groups of a pod: its processes get no signal, and do not run.
func freezeGroup(pod *corev1.Pod) (thaw undo, err error) {
	folders, unified, err := groupsOf(pod, "freezer")
	if err != nil {
		return nil, err
	}
	if unified {
		return set(folders, setting{"cgroup.freeze", "1", "0"})
	}
	return set(folders, setting{"freezer.state", "FROZEN", "THAWED"})
}

// throttle lets a pod's processes run for 5 ms of each 500 ms. Its release notes in held for
// how long the kernel says that it held them back so far.
func throttle(pod *corev1.Pod, held *time.Duration) (release undo, err error) {
	folders, unified, err := groupsOf(pod, "cpu")
	if err != nil {
		return nil, err
	}
	limit := []setting{{"cpu.cfs_period_us", "500000", "100000"}, {"cpu.cfs_quota_us", "5000", "-1"}}
	if unified {
		limit = []setting{{"cpu.max", "5000 500000", "max 100000"}}
	}
	before, err := heldBack(folders)
	if err != nil {
		return nil, err
	}
	lift, err := set(folders, limit...)
	return func(ctx context.Context) error {
		after, err := heldBack(folders)
		*held = after - before
		return errors.Join(err, lift(ctx))
	}, err
}

// heldBack is for how long the kernel says that their limit held control groups back: it
// counts the time in which a group had something to run, when it lets it run again.
func heldBack(folders []string) (sum time.Duration, err error) {
	units := map[string]time.Duration{"throttled_usec": time.Microsecond, "throttled_time": time.Nanosecond}
	for _, folder := range folders {
		stat, err := os.ReadFile(folder + "/cpu.stat")
		if err != nil {
			return 0, err
		}
		for line := range strings.Lines(string(stat)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			if unit := units[name]; unit != 0 {
				n, err := strconv.ParseInt(value, 10, 64)
				if err != nil {
					return 0, fmt.Errorf("%s/cpu.stat: %w", folder, err)
				}
				sum += time.Duration(n) * unit
			}
		}
	}
	return sum, nil
}

// stopNode ends a node as a power cut does.
func stopNode(ctx context.Context, node string) (undo, error) {
	start := func(ctx context.Context) error {
		_, err := cluster.Command(ctx, "cluster", "node", "start", node)
		return err
	}
	_, err := cluster.Command(ctx, "cluster", "node", "stop", node)
	return start, err
}

// stopAPIServer kills the API server.
func stopAPIServer(ctx context.Context) (undo, error) {
	start := func(ctx context.Context) error {
		_, err := cluster.Command(ctx, "cluster", "apiserver", "start")
		return err
	}
	_, err := cluster.Command(ctx, "cluster", "apiserver", "stop")
	return start, err
}

// cut is how packets are kept from their destination: by a rule of the firewall.
type cut struct{ name, rule string }

var cuts = []cut{
	{"dropped", "drop"},                // packets vanish
	{"reset", "reject with tcp reset"}, // connections end at the next packet
}

// apiPorts are those of the API server, before and after its Service's translation.
const apiPorts = "{ 443, 6443 }"

// cutFromAPI keeps a pod and the API server apart.
func cutFromAPI(ctx context.Context, name string, how cut, pod *corev1.Pod) (undo, error) {
	return partition(ctx, name, []string{
		fmt.Sprintf("input: ip saddr %s tcp dport %s %s", pod.Status.PodIP, apiPorts, how.rule),
		fmt.Sprintf("output: ip daddr %s tcp sport %s %s", pod.Status.PodIP, apiPorts, how.rule),
	})
}

// cutPods keeps two groups of pods apart.
func cutPods(ctx context.Context, name string, how cut, some, others []corev1.Pod) (undo, error) {
	return partition(ctx, name, []string{
		fmt.Sprintf("forward: ip saddr { %s } ip daddr { %s } %s", addresses(some), addresses(others), how.rule),
		fmt.Sprintf("forward: ip daddr { %s } ip saddr { %s } %s", addresses(some), addresses(others), how.rule),
	})
}

func addresses(pods []corev1.Pod) string {
	var all []string
	for _, p := range pods {
		all = append(all, p.Status.PodIP)
	}
	return strings.Join(all, ", ")
}

// faultTable begins the names of the firewall's tables that keep pods apart.
const faultTable = "loadtest-fault-"

// healAll removes what a suite that was interrupted has left.
func healAll(ctx context.Context) error {
	tables, err := cluster.Command(ctx, "nft", "list tables ip")
	for line := range strings.Lines(tables) {
		if name := strings.TrimPrefix(strings.TrimSpace(line), "table ip "); strings.HasPrefix(name, faultTable) {
			_, failed := cluster.Command(ctx, "nft", "delete table ip "+name)
			err = errors.Join(err, failed)
		}
	}
	return err
}

// partition adds a table of the firewall with those rules, each after the name of its
// hook. A rule matches the addresses of pods, not of Services.
func partition(ctx context.Context, name string, rules []string) (undo, error) {
	table := faultTable + name
	heal := func(ctx context.Context) error {
		_, err := cluster.Command(ctx, "nft", "delete table ip "+table)
		return err
	}
	chains := map[string]string{}
	for _, r := range rules {
		hook, rule, _ := strings.Cut(r, ": ")
		chains[hook] += rule + "\n"
	}
	script := "table ip " + table + " {\n"
	for hook, body := range chains {
		// Before the cluster's own rules, which let connections that exist pass.
		script += fmt.Sprintf("chain %s {\ntype filter hook %[1]s priority filter - 10; policy accept;\n%s}\n", hook, body)
	}
	_, err := cluster.Command(ctx, "nft", script+"}\n")
	return heal, err
}
