// Command manager is the operator: it runs the LoadTests of a cluster.
//
// `manager check` looks at what is installed beside its pods instead; helm test runs it.
//
// This package has the flags of a replica of the operator, and wires
//
//	api/v1beta1                     what users write and read
//	api/worker/v1                    what operator and workers say to each other
//	controllers/loadtest             reconciles LoadTests
//	  lifecycle                      decides what a run does next (pure)
//	  plan                           expands a spec into the plan, and divides the load (pure)
//	  desired                        describes the workers' Job (pure)
//	  queue, search, baseline        which run may begin, which load is next, what is copied of an earlier run (pure)
//	  targetaccess                   where the targets lead to, and what workers may connect to
//	  targetstate                    what ran behind the target (pure); podreader reads it
//	  resultkeeper, sink             keeps results beyond their LoadTest; where to
//	controllers/loadtestschedule     reconciles LoadTestSchedules; decision decides (pure)
//	controllers/coordinator          sessions with the workers, gate, live merge
//	  exchange                       the values between lifecycle and coordinator (pure)
//	controllers/identity             finds the worker that a token belongs to
//	controllers/judge/results        merged measurement to status, with its audits (pure)
//	controllers/judge/verdict        judges a result against its thresholds (pure)
//	controllers/judge/statistics     by what factor figures changed, and how certain that is (pure)
//	controllers/judge/metric         the table of metrics; rungs: what of two runs can be compared; trend (pure)
//	controllers/policy               what the administrator allows (pure)
//	controllers/replica              makes the process a replica: lease, certificate, probes, takeover, metrics
//	  configuration                  reads what the administrator allows, and again when it changes
//	controllers/writes               the name of the operator's writes, and what a refusal is
//	controllers/runmetrics           the metrics of runs; fairlimit: a limit that is fair between namespaces
//	pace                             when requests are due: the plan and the workers ask it
//	measure                          histograms, outcomes, merge: both sides have it
//	loadworker                       the program that sends the load; independent of Kubernetes
package main
