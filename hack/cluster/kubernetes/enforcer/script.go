package enforcer

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// script is the input of nft that replaces the table, in one transaction: no
// packet meets half of it. Without a chain there is no table. It has no text of
// a policy or pod: addresses and numbers were parsed, protocols compared.
func script(table string, chains []chain) string {
	var text strings.Builder
	fmt.Fprintf(&text, "table ip %s\ndelete table ip %[1]s\n", table)
	if len(chains) == 0 {
		return text.String()
	}
	fmt.Fprintf(&text, "table ip %s {\n", table)
	for _, c := range chains {
		c.write(&text)
	}
	// Services are translated before this hook, and sources are masked after
	// it: both addresses are the pods' own. Answers, and errors that belong
	// to a connection, always pass.
	text.WriteString("\tchain forward {\n")
	text.WriteString("\t\ttype filter hook forward priority filter; policy accept;\n")
	text.WriteString("\t\tct direction reply accept\n")
	text.WriteString("\t\tct state related accept\n")
	writeMap(&text, "saddr", networkingv1.PolicyTypeEgress, chains)
	writeMap(&text, "daddr", networkingv1.PolicyTypeIngress, chains)
	text.WriteString("\t}\n}\n")
	return text.String()
}

// writeMap sends the packets of isolated pods to their chains.
func writeMap(text *strings.Builder, field string, direction networkingv1.PolicyType, chains []chain) {
	var entries []string
	for _, c := range chains {
		if c.direction == direction {
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

// write writes the pod's chain. An allowed packet returns to the calling chain,
// because the other side's chain has to allow it, too. A pod reaches itself.
func (c chain) write(text *strings.Builder) {
	other := "saddr"
	if c.direction == networkingv1.PolicyTypeEgress {
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

// protocols that a policy can name; the API server admits no other.
var protocols = []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}

func (p ports) condition() string {
	protocol := strings.ToLower(string(p.protocol))
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
