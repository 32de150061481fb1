// Package pipelines has what runs load tests in pipelines: a template for GitLab and a Task for Tekton;
// the action for GitHub is beside it, in deploy/action. Its tests read them and the recipes of
// docs/pipelines.md, and run their shell steps by bash, against a target on this machine. The services
// and their programs (gh, curl, docker, go) are stubs.
package pipelines
