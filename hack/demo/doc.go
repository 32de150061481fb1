// Command demo is what make demo runs once a cluster is up and has the images:
// it installs the operator and two rate limiters with Helm, runs the scenarios of
// seed 004 against both, and says whether the outcome is the one that it should
// be, by its last line and its exit code.
//
//	main.go      environment, last line, exit code
//	demo.go      the phases, each with a bound on its time
//	outcome/     pure: results → table and judgement
//
// It can be run again on a cluster that has all of it. It uses helm, kubectl and
// kubectl-loadtest from the PATH and these variables:
//
//	CLUSTER         local (default), kind or current: where the images come from
//	IMAGE_REGISTRY  on kind and current: images are IMAGE_REGISTRY/{operator,
//	IMAGE_TAG       worker,ratelimiter}:IMAGE_TAG; Redis and Nginx are official
//	KUBECONFIG      the cluster
package main
