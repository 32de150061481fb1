// Package search chooses the loads of a search: the highest load that a target
// sustains is between a load that was kept and one that was breached.
//
//	min ×2 ×2 ×2 … until a breach     ┐
//	bisect between kept and breached  ├ Next(probes so far) ─▶ the next load, or the end
//	confirm high, then low            │
//	hold low, or what is kept of it   ┘
//
// A probe is a measurement, and near the limit two of one load may differ. So both ends
// of the interval are probed twice, and it has nothing on its wrong side: no load up to
// Low was breached, none from High on was kept. A load of which one probe was kept and
// another breached is at the limit itself; the interval is put around it.
//
// In the time of a probe a queue hardly begins to grow. So the load that was found is held
// for long at the end; what that breaches is taken back by the precision, and held again.
//
// Next is a pure function of the probes, all of which stand in the status: a process
// that takes the run over goes on where another stopped. The package imports the
// standard library only.
package search
