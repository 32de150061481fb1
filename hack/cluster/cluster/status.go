package cluster

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/controlplane"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/node"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/process"
)

// Component is a row of the status.
type Component struct {
	Name string
	// PID is 0 if the component does not run.
	PID int
	// Memory is in bytes, with that of the processes it started.
	Memory int64
	State  string
}

// Status returns all components, and ErrDown with them if one is missing.
func (c Cluster) Status(ctx context.Context) ([]Component, error) {
	all, err := c.processes().List()
	if err != nil {
		return nil, err
	}
	memory := map[string]int64{}
	leaders := map[string]process.Process{}
	for _, p := range all {
		share, err := c.processes().Memory(p.PID)
		if err == nil { // it may have ended meanwhile
			memory[p.Name] += share
		}
		if p.Leader {
			leaders[p.Name] = p
		}
	}
	ready, err := c.readiness(ctx)
	rows := components(c.Layout, leaders, memory, ready)
	if err != nil || !complete(leaders) {
		return rows, ErrDown
	}
	return rows, nil
}

func (c Cluster) readiness(ctx context.Context) (map[string]time.Time, error) {
	client, err := controlplane.NewClient(c.Layout)
	if err != nil {
		return nil, err
	}
	return client.Nodes(ctx)
}

// components makes the rows: those of the control plane, then those of each node.
func components(l layout.Layout, leaders map[string]process.Process, memory map[string]int64, ready map[string]time.Time) []Component {
	var rows []Component
	add := func(name, up string) {
		row := Component{Name: name, PID: leaders[name].PID, Memory: memory[name], State: "down"}
		if row.PID != 0 {
			row.State = up
		}
		rows = append(rows, row)
	}
	for _, name := range controlplane.Components {
		add(name, "up")
	}
	for n := 1; n <= layout.Nodes; n++ {
		state := "up, not ready"
		if !ready[layout.NodeName(n)].IsZero() {
			state = "up, ready"
		}
		add(l.Node(n).Process(node.Containerd), "up")
		add(l.Node(n).Process(node.Kubelet), state)
	}
	return rows
}

// Print writes the rows as a table with a sum.
func Print(w io.Writer, rows []Component) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "COMPONENT\tSTATE\tPID\tMEMORY")
	var total int64
	for _, row := range rows {
		pid := "-"
		if row.PID != 0 {
			pid = fmt.Sprint(row.PID)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", row.Name, row.State, pid, mebibytes(row.Memory))
		total += row.Memory
	}
	fmt.Fprintf(table, "total, without pods\t\t\t%s\n", mebibytes(total))
	return table.Flush()
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
