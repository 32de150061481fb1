package hgrm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/hgrm"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// TestHdrHistogramsOwnToolWritesTheSame has the tool of HdrHistogram's Java library read
// the histogram of a status, as a line of its log format, and write its percentiles.
func TestHdrHistogramsOwnToolWritesTheSame(t *testing.T) {
	lt := reporttest.Knee(t)
	for i := range lt.Status.Steps {
		step := &lt.Status.Steps[i]
		ours, err := hgrm.Report(lt, step.Name)
		must.Succeed(t, err)
		same.As(t, "step "+step.Name, parse(t, javas(t, step.Result.Histogram)), parse(t, ours), cmpopts.EquateApprox(0, 1e-6))
	}
}

// javas is the percentile output of a histogram, whose microseconds are written as
// milliseconds.
func javas(t *testing.T, histogram string) []byte {
	t.Helper()
	log := filepath.Join(t.TempDir(), "step")
	const head = "#[Histogram log format version 1.3]\n#[StartTime: 0.000 (seconds since epoch)]\n" +
		`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"` + "\n0.000,10.000,1.0,"
	must.Succeed(t, os.WriteFile(log, []byte(head+histogram+"\n"), 0o600))
	command := exec.CommandContext(t.Context(), "java", "-cp", jar(t), "org.HdrHistogram.HistogramLogProcessor", "-i", log, "-o", log+"-read", "-outputValueUnitRatio", "1000")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command.Args, err, out)
	}
	written := must.ReadFile(t, log+"-read.hgrm")
	return written
}

// jar is the library, which comes with Kafka.
func jar(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(os.Getenv("KAFKA_HOME"), "libs", "HdrHistogram-*.jar"))
	if err != nil || len(found) != 1 {
		t.Fatalf("HdrHistogram's Java library: %v, %v; make test sets KAFKA_HOME to Kafka, whose libs have it", found, err)
	}
	return found[0]
}
