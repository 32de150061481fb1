// Package loadtestschedule reconciles LoadTestSchedules, which start LoadTests; what to do is
// decided in package decision.
//
//	observe ─▶ decide (decision) ─▶ create ─▶ report ─▶ delete what was replaced or expired
//
// It creates and deletes LoadTests and writes the status of schedules, and nothing else.
// Package loadtest carries the LoadTests out as any others.
package loadtestschedule
