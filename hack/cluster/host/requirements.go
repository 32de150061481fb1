package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// PluginFolder is where Debian's package puts the CNI plugins.
const PluginFolder = "/usr/lib/cni"

// requirement is a program and the Debian package that has it.
type requirement struct{ program, pkg string }

var requirements = []requirement{
	{"containerd", "containerd"},
	{"containerd-shim-runc-v2", "containerd"},
	{"ctr", "containerd"},
	{"runc", "runc"},
	{PluginFolder + "/bridge", "containernetworking-plugins"},
	{PluginFolder + "/host-local", "containernetworking-plugins"},
	{PluginFolder + "/loopback", "containernetworking-plugins"},
	{PluginFolder + "/portmap", "containernetworking-plugins"},
	{"iptables", "iptables"},
	{"iptables-save", "iptables"},
	{"iptables-restore", "iptables"},
	{"nft", "nftables"},
	{"ip", "iproute2"},
	{"mount", "mount"},
	{"unshare", "util-linux"},
	{"nsenter", "util-linux"},
}

// Privileged refuses where a cluster cannot run at all.
func Privileged() error { return privileged(runtime.GOOS, os.Geteuid()) }

func privileged(system string, user int) error {
	if system != "linux" {
		return fmt.Errorf("this cluster runs on Linux only, not on %s: "+
			"use a cluster that you have (make demo CLUSTER=current) or kind (CLUSTER=kind)", system)
	}
	if user != 0 {
		return errors.New("this command needs root: it makes network bridges, mounts and control groups (try sudo)")
	}
	return nil
}

// MissingError names the programs that are not there and how to get them.
type MissingError struct{ Programs, Packages []string }

func (e MissingError) Error() string {
	return fmt.Sprintf("not found: %s; run: apt-get install --no-install-recommends %s (or use --install)",
		strings.Join(e.Programs, ", "), strings.Join(e.Packages, " "))
}

// CheckPrograms returns a MissingError unless every program is there.
func CheckPrograms() error { return missing(exec.LookPath) }

func missing(look func(string) (string, error)) error {
	var lack MissingError
	for _, r := range requirements {
		if _, err := look(r.program); err == nil {
			continue
		}
		lack.Programs = append(lack.Programs, r.program)
		if !slices.Contains(lack.Packages, r.pkg) {
			lack.Packages = append(lack.Packages, r.pkg)
		}
	}
	if lack.Programs == nil {
		return nil
	}
	return lack
}

// Install installs the packages with apt-get, which tells on out what it does.
func Install(ctx context.Context, packages []string, out io.Writer) error {
	for _, args := range [][]string{
		{"update", "--quiet"},
		append([]string{"install", "--yes", "--quiet", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"}, packages...),
	} {
		command := exec.CommandContext(ctx, "apt-get", args...)
		command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		command.Stdout, command.Stderr = out, out
		if err := command.Run(); err != nil {
			return fmt.Errorf("apt-get %s: %w", args[0], err)
		}
	}
	return nil
}
