// Package lifecycle decides what a run does next.
//
// Decide is a pure function of the LoadTest as it was read back, what was
// observed of its workers, and one instant. It may import no client, clock,
// log or source of randomness, and acts on nothing itself: what it returns, the
// reconciler of package loadtest carries out.
//
//	           suspend                         all workers ready
//	Suspended ◀──────▶ Starting ────────────────────────▶ Running ─┐ next step
//	                      │  deadline, lost worker,          │ ▲───┘
//	                      ▼  invalid spec, terminate         │
//	                   Finished ◀────────────────────────────┘
//	                              last step, breach, terminate,
//	                              deadline, no worker left
//
// A pass is a list of phases, carried out in this order until one ends or holds the run:
//
//	accepting  awaitParent  requireRules  planRun  checkSize  checkAccess  copyBaseline  accept
//	           keepWaiting  begin
//	starting   wakeBeforeQuiet  findTarget  grantAccess  copyBaseline  selectWorkers
//	           explainWait  endIfAsked  failAtDeadline  failIfHopeless  beginFirstStep
//	           failAtStartDeadline  giveWay  bringWorkers
//	running    wakeBeforeQuiet  finishAudits  grantAccess  countWorkers  reportWorkers
//	           stopIfHeld  stopIfAsked  followStep
//	loading    failIfUnreadable  awaitReports  readTargetBefore  sampleUsage
//	           readTargetAfter  askQueries  recordReport  abortIfBreached  boundMissing
//	           closeAborted  closeWithOthers  closeStopped  closeWithoutWorkers  settle  judge  goOn
//	sideBySide wakeBeforeQuiet  followLoads  endIfAsked  endWithOthers  finishLoads  hold  createLoads
//	           beginLoads
//	finished   forgetWorkers  forgetFailures  archive  announce  expire  deleteJob
//	closing    verifyTarget  conclude  summarize  paceWrites  requeue
//
// A run whose loads are sent side by side has the stage sideBySide in place of starting and
// running: each load is carried out by a LoadTest of its own, which reads of its parent when to
// begin, and whether to hold or to end (parent.go).
//
// The stages accepting, starting, running, sideBySide and finished follow from the status that was
// read; loading belongs to followStep, while a step sends load; closing ends every pass.
// Phases read the inputs and what phases before them decided, and write only to the
// decision: each is a method of its stage, beside whose type the list stands.
//
// A worker that is lost (lost_workers.go) does not come back; a silent one may
// (silent_workers.go), and the run waits for it until the limit of its step. This process
// cannot know what happened before it directed the run, at Observed.Since, and counts nothing
// of that time against a worker.
//
// A choice that must not be made twice (when a step starts, that a run is cut)
// is written to the status in one pass and acted on in a later one, from what
// was read back: the Directive follows from the status that came in, never from
// the one that goes out.
package lifecycle
