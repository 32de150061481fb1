package configuration_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
)

func TestMain(m *testing.M) { apiserver.Start(m) }
