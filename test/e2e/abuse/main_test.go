//go:build e2e

package abuse

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m) }
