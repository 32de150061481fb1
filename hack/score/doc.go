// Command score has kube-score judge the charts, as they are by default and with everything
// on, and fails if it finds anything that is not answered here. It runs helm and kube-score
// from the PATH, in the root of the repository: make score.
package main
