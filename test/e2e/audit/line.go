package audit

import (
	"fmt"
	"strings"
	"time"
)

// Line is the report of one preset.
type Line struct {
	Preset Preset
	// Ready is how long the installation took to be ready; 0 when it never was.
	Ready time.Duration
	// Tested says that `helm test` passed.
	Tested bool
	// Killed are the components with a killed pod.
	Killed []string
	// Sent and Failed count the load test's requests; Verdict is its own.
	Sent, Failed int64
	Verdict      string
	// Findings are the audits in a few words each.
	Findings []string
	// Err is the failure of the trial, or nil.
	Err error
}

// String is the line, up to where the preset came.
func (l Line) String() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if l.Ready > 0 {
		add("ready %s", l.Ready.Round(time.Second))
	}
	if l.Tested {
		add("test passed")
	}
	for _, component := range l.Killed {
		add("%s killed", component)
	}
	if l.Sent > 0 {
		add("%d sent", l.Sent)
	}
	if l.Failed > 0 {
		add("%d failed", l.Failed)
	}
	parts = append(parts, l.Findings...)
	if l.Verdict != "" {
		add("verdict %s", l.Verdict)
	}
	if l.Err != nil {
		first, _, _ := strings.Cut(l.Err.Error(), "\n")
		add("FAILED: %s", first)
	}
	return "targets: " + l.Preset.Name + " " + strings.Join(parts, ", ")
}

// Summary is the last line.
func Summary(presets, failed int) string {
	return fmt.Sprintf("targets: %d presets, %d failed", presets, failed)
}
