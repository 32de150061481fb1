package serve

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestCollectorFollowsTheMemoryLimit(t *testing.T) {
	const mb = 1 << 20
	limited := map[string]string{"GOMEMLIMIT": "900MiB"}
	for name, tc := range map[string]struct {
		env            map[string]string
		limit, outside int64
		want           collector
	}{
		"no limit":             {nil, math.MaxInt64, 50 * mb, collector{0, math.MaxInt64}},
		"a limit of none":      {map[string]string{"GOMEMLIMIT": "off"}, math.MaxInt64, 0, collector{0, math.MaxInt64}},
		"a limit of a caller":  {nil, 900 * mb, 50 * mb, collector{0, 900 * mb}},
		"a limit":              {limited, 900 * mb, 0, collector{400, 900 * mb}},
		"a limit, and GOGC":    {map[string]string{"GOMEMLIMIT": "900MiB", "GOGC": "50"}, 900 * mb, 100 * mb, collector{0, 800 * mb}},
		"a part of it outside": {limited, 900 * mb, 36 * mb, collector{400, 864 * mb}},
		"most of it outside":   {limited, 900 * mb, 600 * mb, collector{400, 450 * mb}},
		"more than it outside": {limited, 900 * mb, 9000 * mb, collector{400, 450 * mb}},
	} {
		same.As(t, name, tc.want, tune(servetest.Environment(tc.env), tc.limit, tc.outside), cmp.AllowUnexported(collector{}))
	}
}

// The decision is applied to the process.
func TestTuneMemory(t *testing.T) {
	percent := debug.SetGCPercent(100)
	limit := debug.SetMemoryLimit(1 << 40)
	defer func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}()
	TuneMemory(servetest.Environment(nil), 1<<30)
	if p, l := debug.SetGCPercent(100), debug.SetMemoryLimit(-1); p != 100 || l != 1<<40 {
		t.Errorf("without GOMEMLIMIT: GOGC is %d and the limit %d, want what they were", p, l)
	}
	TuneMemory(servetest.Environment(map[string]string{"GOMEMLIMIT": "1TiB"}), 1<<30)
	if p, l := debug.SetGCPercent(100), debug.SetMemoryLimit(-1); p != relaxedGC || l != 1<<40-1<<30 {
		t.Errorf("with it: GOGC is %d and the limit %d, want %d and %d", p, l, relaxedGC, 1<<40-1<<30)
	}
}
