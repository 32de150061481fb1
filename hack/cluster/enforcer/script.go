package enforcer

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
)

// script is the input of nft that makes the table anew, in one transaction: no
// packet meets half of it. Without a chain there is no table. Nothing in it is
// a text of somebody else's: addresses and numbers were parsed.
func script(chains []chain) string {
	var text strings.Builder
	fmt.Fprintf(&text, "table ip %s\ndelete table ip %[1]s\n", layout.PolicyTable)
	if len(chains) == 0 {
		return text.String()
	}
	fmt.Fprintf(&text, "table ip %s {\n", layout.PolicyTable)
	for _, c := range chains {
		c.write(&text)
	}
	// Services are translated before this hook, and sources are masked after
	// it: both addresses are the pods' own. Answers, and errors that belong
	// to a connection, pass with it.
	text.WriteString("\tchain forward {\n")
	text.WriteString("\t\ttype filter hook forward priority filter; policy accept;\n")
	text.WriteString("\t\tct direction reply accept\n")
	text.WriteString("\t\tct state related accept\n")
	writeMap(&text, "saddr", egress, chains)
	writeMap(&text, "daddr", ingress, chains)
	text.WriteString("\t}\n}\n")
	return text.String()
}

// writeMap leads packets from or to governed pods to their chains.
func writeMap(text *strings.Builder, field string, d direction, chains []chain) {
	var entries []string
	for _, c := range chains {
		if c.direction == d {
			entries = append(entries, fmt.Sprintf("%s : jump %s", c.of, c.name()))
		}
	}
	if len(entries) > 0 {
		fmt.Fprintf(text, "\t\tip %s vmap { %s }\n", field, strings.Join(entries, ", "))
	}
}

func (c chain) name() string {
	return strings.ToLower(string(c.direction)) + "-" + c.of.String()
}

// write makes the pod's chain. A packet that may pass returns to where it came
// from, as the other side's chain has to agree. A pod always reaches itself.
func (c chain) write(text *strings.Builder) {
	other := "saddr"
	if c.direction == egress {
		other = "daddr"
	}
	fmt.Fprintf(text, "\tchain %s {\n", c.name())
	fmt.Fprintf(text, "\t\tip %s %s return\n", other, c.of)
	for _, m := range c.allowed {
		fmt.Fprintf(text, "\t\t%sreturn\n", m.conditions(other))
	}
	text.WriteString("\t\tdrop\n\t}\n")
}

func (m match) conditions(field string) string {
	var all strings.Builder
	switch {
	case m.any:
	case len(m.addresses) > 0:
		fmt.Fprintf(&all, "ip %s { %s } ", field, join(m.addresses))
	default:
		fmt.Fprintf(&all, "ip %s %s ", field, m.block)
		for _, except := range m.except {
			fmt.Fprintf(&all, "ip %s != %s ", field, except)
		}
	}
	if m.port != nil {
		all.WriteString(m.port.condition())
	}
	return all.String()
}

// protocols that a policy can name; the API server knows no other.
var protocols = []string{"TCP", "UDP", "SCTP"}

func (p ports) condition() string {
	protocol := strings.ToLower(p.protocol)
	switch {
	case !slices.Contains(protocols, p.protocol):
		return "meta l4proto 255 " // reserved: no packet is of it
	case p.first == 0:
		return "meta l4proto " + protocol + " "
	case p.first == p.last:
		return fmt.Sprintf("%s dport %d ", protocol, p.first)
	}
	return fmt.Sprintf("%s dport %d-%d ", protocol, p.first, p.last)
}

func join(addresses []netip.Addr) string {
	var texts []string
	for _, address := range addresses {
		texts = append(texts, address.String())
	}
	return strings.Join(texts, ", ")
}
