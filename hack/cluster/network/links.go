package network

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
)

// Up makes bridges, routes and firewall rules.
func Up() error {
	if err := input(upBatch(), "ip", "-batch", "-"); err != nil {
		return err
	}
	return input(rules(), "iptables-restore", "--noflush", "--wait")
}

// upBatch is the input of ip that makes all links and routes. Each bridge has
// a hardware address of its own: without one it takes that of its first port,
// and pods would keep the old one in their neighbour tables.
func upBatch() string {
	var batch strings.Builder
	bridge := func(n int, name, subnet string) {
		fmt.Fprintf(&batch, "link add %s address 02:4c:54:00:00:%02x type bridge\n", name, n)
		fmt.Fprintf(&batch, "address add %s dev %s\n", subnet, name)
		fmt.Fprintf(&batch, "link set %s up\n", name)
	}
	fmt.Fprintf(&batch, "route add blackhole %s\n", layout.PodRange)
	bridge(0, layout.ControlBridge, layout.ControlSubnet)
	// A destination needs a route before the firewall can redirect it, and
	// the host may have no default route.
	fmt.Fprintf(&batch, "route add %s dev %s\n", layout.ServiceRange, layout.ControlBridge)
	for n := 1; n <= layout.Nodes; n++ {
		bridge(n, layout.NodeBridge(n), layout.NodeSubnet(n))
	}
	return batch.String()
}

// CutNode takes a node off the network, as if its cable had been pulled.
func CutNode(n int) error {
	ports, err := ports(layout.NodeBridge(n))
	if err != nil {
		return err
	}
	batch := fmt.Sprintf("link set %s down\n", layout.NodeBridge(n))
	for _, port := range ports {
		batch += fmt.Sprintf("link delete %s\n", port)
	}
	return input(batch, "ip", "-force", "-batch", "-")
}

// JoinNode puts a node back on the network.
func JoinNode(n int) error {
	return input(fmt.Sprintf("link set %s up\n", layout.NodeBridge(n)), "ip", "-batch", "-")
}

// Down removes all links, routes and firewall rules of the cluster that exist.
func Down() error {
	if err := dropRules(); err != nil {
		return err
	}
	if err := input(noPolicies, "nft", "--file", "-"); err != nil {
		return err
	}
	links, err := links()
	if err != nil {
		return err
	}
	routes, err := output("ip", "route", "show", "type", "blackhole", layout.PodRange)
	if err != nil {
		return err
	}
	return input(downBatch(links, strings.TrimSpace(routes) != ""), "ip", "-batch", "-")
}

// link is what ip tells of one.
type link struct {
	Name   string `json:"ifname"`
	Master string `json:"master"`
}

// downBatch deletes the ports of our bridges before the bridges. A port is one
// end of a pair; the other is in a pod.
func downBatch(links []link, blackhole bool) string {
	var ports, bridges strings.Builder
	for _, l := range links {
		switch {
		case ours(l.Master):
			fmt.Fprintf(&ports, "link delete %s\n", l.Name)
		case ours(l.Name):
			fmt.Fprintf(&bridges, "link delete %s\n", l.Name)
		}
	}
	batch := ports.String() + bridges.String()
	if blackhole {
		batch += fmt.Sprintf("route delete blackhole %s\n", layout.PodRange)
	}
	return batch
}

func ours(link string) bool {
	if link == layout.ControlBridge {
		return true
	}
	for n := 1; n <= layout.Nodes; n++ {
		if link == layout.NodeBridge(n) {
			return true
		}
	}
	return false
}

// ports are the links that are plugged into a bridge.
func ports(bridge string) ([]string, error) {
	all, err := links()
	var names []string
	for _, l := range all {
		if l.Master == bridge {
			names = append(names, l.Name)
		}
	}
	return names, err
}

func links() ([]link, error) {
	out, err := output("ip", "-json", "link", "show")
	if err != nil {
		return nil, err
	}
	var links []link
	if err := json.Unmarshal([]byte(out), &links); err != nil {
		return nil, fmt.Errorf("decode links: %w", err)
	}
	return links, nil
}

// input runs a program with that text as its input; with none it does nothing.
func input(text, program string, args ...string) error {
	if text == "" {
		return nil
	}
	command := exec.Command(program, args...)
	command.Stdin = strings.NewReader(text)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s\ninput:\n%s", program, err, bytes.TrimSpace(out), text)
	}
	return nil
}

// output runs a program and returns what it prints.
func output(program string, args ...string) (string, error) {
	var stderr bytes.Buffer
	command := exec.Command(program, args...)
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(out), nil
}
