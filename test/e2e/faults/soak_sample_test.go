//go:build e2e

package faults

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strconv"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/soak"
)

// sample measures the process that leads: what it holds, and how many collections of
// garbage it has had.
func sample(ctx context.Context, s *cluster.Scraper) (now soak.Sample, cycles int, err error) {
	pod, err := cluster.Leader(ctx)
	if err != nil {
		return now, 0, err
	}
	pids, err := processes(pod)
	if err != nil {
		return now, 0, err
	}
	folder := "/proc/" + strconv.Itoa(pids[0])
	// The kernel chooses other addresses for each program that is started, be it in the
	// same process.
	vector, err := os.ReadFile(folder + "/auxv")
	if err != nil {
		return now, 0, err
	}
	open, err := os.ReadDir(folder + "/fd")
	if err != nil {
		return now, 0, err
	}
	values, err := s.Scrape(ctx, pod)
	if err != nil {
		return now, 0, err
	}
	if now, cycles, err = soak.SampleOf(values); err != nil {
		return now, 0, fmt.Errorf("%s: %w", pod.Name, err)
	}
	now.Descriptors = len(open)
	now.Process = fmt.Sprintf("%s %x", pod.Name, sha256.Sum256(vector))[:len(pod.Name)+9]
	return now, cycles, nil
}
