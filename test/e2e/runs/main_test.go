//go:build e2e

package runs

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m) }
