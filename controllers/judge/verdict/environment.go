package verdict

// targetChanged is why the run as a whole is of no one target: the target was changed
// within a step, or between two of them.
func (r run) targetChanged() string {
	for _, step := range r.ran() {
		if step.Environment == nil {
			continue
		}
		for _, c := range step.Environment.Changes {
			if c.Spoils != "" {
				return c.Message
			}
		}
	}
	return ""
}
