package network

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
)

// prefixes of the chains that go with the cluster: ours, those of kube-proxy
// and those of the CNI plugins.
var prefixes = []string{"LOADTEST-", "KUBE-", "CNI-"}

// rules is the input of iptables-restore with our chains. Accepting is needed
// where the host's policy is to forward nothing, as with Docker.
func rules() string {
	return fmt.Sprintf(`*filter
:LOADTEST-FORWARD - [0:0]
-I FORWARD -j LOADTEST-FORWARD
-A LOADTEST-FORWARD -s %[1]s -j ACCEPT
-A LOADTEST-FORWARD -d %[1]s -j ACCEPT
COMMIT
*nat
:LOADTEST-POSTROUTING - [0:0]
-A POSTROUTING -j LOADTEST-POSTROUTING
-A LOADTEST-POSTROUTING -s %[1]s ! -d %[2]s -j MASQUERADE
COMMIT
`, layout.PodRange, layout.ClusterRange)
}

// noPolicies deletes the table of NetworkPolicies. It adds the table first: nft
// refuses to delete a table that does not exist.
const noPolicies = "table ip " + layout.PolicyTable + "\ndelete table ip " + layout.PolicyTable + "\n"

// Foreign returns an error if the host runs another Kubernetes: two kube-proxies
// would undo each other's rules, and down could not tell the rules apart.
func Foreign() error {
	out, err := output("iptables-save")
	if err != nil {
		return err
	}
	if strings.Contains(out, "\n:KUBE-SERVICES ") {
		return errors.New("this host already has firewall chains of a kube-proxy (KUBE-SERVICES): " +
			"it is a node of another cluster, or one was not cleaned up (kube-proxy --cleanup)")
	}
	return nil
}

// dropRules takes away our chains of both families. A host without IPv6 may
// lack the tool's support for it.
func dropRules() error {
	for _, family := range []string{"iptables", "ip6tables"} {
		saved, err := output(family + "-save")
		if errors.Is(err, exec.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		script, tables := removal(saved)
		if script == "" {
			continue
		}
		if err := input(script, family+"-restore", "--noflush", "--wait"); err != nil {
			return err
		}
		if err := dropVacantTables(family, tables); err != nil {
			return err
		}
	}
	return nil
}

// removal returns the input of iptables-restore that takes our chains out of
// what iptables-save has printed, and the tables that they were in.
func removal(saved string) (script string, tables []string) {
	var all strings.Builder
	for section := range strings.SplitSeq(saved, "COMMIT\n") {
		if name, part := removalOf(section); part != "" {
			all.WriteString(part)
			tables = append(tables, name)
		}
	}
	return all.String(), tables
}

// removalOf does so for one table: it empties our chains, deletes the rules
// that jump to them from elsewhere, and then the chains, which nothing refers
// to any more.
func removalOf(section string) (table, script string) {
	var empty, unlink, drop strings.Builder
	for line := range strings.Lines(section) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "*"); ok {
			table = name
		}
		if rest, ok := strings.CutPrefix(line, ":"); ok {
			if chain, _, _ := strings.Cut(rest, " "); isOurs(chain) {
				fmt.Fprintf(&empty, ":%s - [0:0]\n", chain)
				fmt.Fprintf(&drop, "-X %s\n", chain)
			}
		}
		if rule, ok := strings.CutPrefix(line, "-A "); ok {
			if chain, _, _ := strings.Cut(rule, " "); !isOurs(chain) && isOurs(target(rule)) {
				fmt.Fprintf(&unlink, "-D %s\n", rule)
			}
		}
	}
	if empty.Len() == 0 {
		return table, ""
	}
	return table, "*" + table + "\n" + empty.String() + unlink.String() + drop.String() + "COMMIT\n"
}

// target is the chain that a rule jumps or goes to.
func target(rule string) string {
	for _, flag := range []string{" -j ", " -g "} {
		if i := strings.LastIndex(rule, flag); i >= 0 {
			chain, _, _ := strings.Cut(rule[i+len(flag):], " ")
			return chain
		}
	}
	return ""
}

func isOurs(chain string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(chain, prefix) {
			return true
		}
	}
	return false
}

// dropVacantTables removes what is left of tables that came into being with our
// first rule, and which iptables cannot remove. Where iptables is not built on
// nftables there is no such table.
func dropVacantTables(family string, tables []string) error {
	for _, table := range tables {
		name := nftFamily[family] + " " + table
		all, err := output("nft", "list", "tables")
		if err != nil {
			return err
		}
		if !strings.Contains(all, "table "+name+"\n") {
			continue
		}
		listing, err := output("nft", "list", "table", name)
		if err != nil {
			return err
		}
		if !vacant(listing) {
			continue
		}
		if _, err := output("nft", "delete", "table", name); err != nil {
			return err
		}
	}
	return nil
}

// nftFamily are nftables' names of the families.
var nftFamily = map[string]string{"iptables": "ip", "ip6tables": "ip6"}

// vacant is true for a table, as nft lists it, that does nothing: it has no rule,
// and no chain but those that hook into the kernel and accept.
func vacant(listing string) bool {
	for line := range strings.Lines(listing) {
		line = strings.TrimSpace(line)
		accepts := strings.HasPrefix(line, "type ") && strings.HasSuffix(line, "policy accept;")
		opens := strings.HasPrefix(line, "table ") || strings.HasPrefix(line, "chain ")
		if line != "" && line != "}" && !accepts && !opens {
			return false
		}
	}
	return true
}
