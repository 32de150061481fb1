package report

// audits are what became of the numbers that the target reports of itself.
func (p *page) audits() {
	list := p.lt.Status.Audits
	if len(list) == 0 {
		return
	}
	p.line("")
	p.line("Audits")
	for _, a := range list {
		message := a.Message
		if message == "" {
			message = "Audit " + a.Name + " is performed after the last step."
		}
		p.line("  %-*s%s", labelWidth-2, a.State, message)
	}
}
