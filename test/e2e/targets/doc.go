// Package targets installs the presets of the chart of targets, loads them, and compares what is
// stored there with what was acknowledged, by package audit.
package targets
