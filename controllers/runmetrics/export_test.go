package runmetrics

// Kept is how many runs' loads are kept.
func (c *Collector) Kept() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.tallies)
}

// Forget forgets all runs.
func (c *Collector) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.tallies)
}
