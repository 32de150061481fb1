package archive

import "fmt"

const (
	// MaxUsage is how many containers of a target are told of, and MaxUsagePoints how many
	// points of each.
	MaxUsage       = 4
	MaxUsagePoints = 240
)

// Usage is what a container of the target's pods used in the course of a step, by the
// resource metrics API.
type Usage struct {
	Container string `json:"container"`
	// CPULimitMillis is the limit in thousandths of a processor, MemoryLimitBytes that of memory.
	// Absent: none, or it is not the same in all pods.
	CPULimitMillis   int64 `json:"cpuLimitMillis,omitempty"`
	MemoryLimitBytes int64 `json:"memoryLimitBytes,omitempty"`
	// Points are in order.
	Points []UsagePoint `json:"points"`
}

// UsagePoint is the highest of all pods in a part of a step, whose times count from the
// beginning of its window.
type UsagePoint struct {
	FromMillis  int64 `json:"fromMillis"`
	ToMillis    int64 `json:"toMillis"`
	CPUMillis   int64 `json:"cpuMillis"`
	MemoryBytes int64 `json:"memoryBytes"`
}

func (u *Usage) check() error {
	if u.CPULimitMillis < 0 || u.MemoryLimitBytes < 0 {
		return fmt.Errorf("a limit must not be negative")
	}
	for i, p := range u.Points {
		if p.FromMillis < 0 || p.ToMillis < p.FromMillis || p.CPUMillis < 0 || p.MemoryBytes < 0 {
			return fmt.Errorf("points[%d]: it does not add up", i)
		}
	}
	return nil
}
