// Command manager is the operator: it runs the LoadTests of a cluster.
//
// `manager check` looks at what is installed beside its pods instead; helm test runs it.
//
// This package has the flags of a replica of the operator, and wires
//
//	api/v1alpha1            what users write and read
//	api/worker/v1           what operator and workers say to each other
//	controllers/loadtest    reconciles: the only package that calls the API server
//	controllers/lifecycle   decides what a run does next (pure)
//	controllers/plan        expands a spec into the plan, and divides the load (pure)
//	controllers/desired     describes the workers' Job (pure)
//	controllers/results     merged measurement to status, with its audits (pure)
//	controllers/verdict     judges a result against its thresholds (pure)
//	controllers/baseline    what is copied of an earlier run (pure)
//	controllers/figures     the figures of two runs, side by side (pure)
//	controllers/change      by what factor figures changed, and how certain that is (pure)
//	controllers/control     the values between lifecycle and coordinator (pure)
//	controllers/coordinator sessions with the workers, gate, live merge
//	controllers/replica     makes the process a replica: lease, probes, takeover, metrics
//	pace                    when requests are due: the plan and the workers ask it
//	measure                 histograms, outcomes, merge: both sides have it
//	loadworker              the program that sends the load; independent of Kubernetes
package main
