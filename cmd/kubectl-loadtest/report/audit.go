package report

import "strings"

// audits are what became of the numbers that the target reports of itself.
func (p *page) audits() {
	list := p.lt.Status.Audits
	if len(list) == 0 {
		return
	}
	p.line("")
	p.line("Audits")
	results := AuditResults(&p.lt.Status)
	for i, a := range list {
		message := results[i]
		if a.Message == "" {
			message = "Audit " + a.Name + " is performed after the last step."
		}
		if !strings.Contains(message, a.Name) {
			message = a.Name + "  " + message
		}
		p.line("  %-*s%s", labelWidth-2, a.State, message)
	}
}
