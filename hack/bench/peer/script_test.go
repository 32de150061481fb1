package peer

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestScriptsAreInvokedForUsersAndATime(t *testing.T) {
	l := ScriptLoad{Script: "/a/shop.x", URL: "http://127.0.0.1:1", Users: 32, Seconds: 20}
	same.As(t, "k6", Invocation{Args: append(k6Args[:len(k6Args):len(k6Args)],
		"--vus", "32", "--duration", "20s", "-e", "SHOP=http://127.0.0.1:1", "/a/shop.x")}, K6Script(l))
	same.As(t, "Locust", Invocation{Args: []string{
		"--headless", "--only-summary", "--loglevel", "ERROR", "--host", "http://127.0.0.1:1", "--users", "32", "--spawn-rate", "32",
		"--run-time", "20s", "-f", "/a/shop.x",
	}}, LocustScript(l))
}

// An installation is taken as it is if it is whole and of the same requirements.
func TestAnInstallationFromPyPIIsReused(t *testing.T) {
	const requirements = "gevent==1.0\nlocust==2.0.1\n"
	folder := t.TempDir()
	file := filepath.Join(folder, "requirements.txt")
	must.Succeed(t, os.WriteFile(file, []byte(requirements), 0o600))
	must.Succeed(t, os.MkdirAll(filepath.Join(folder, "locust-2.0.1"), 0o700))
	must.Succeed(t, os.WriteFile(filepath.Join(folder, "locust-2.0.1", "whole"), []byte(requirements), 0o600))
	s := Store{Cache: folder, Log: io.Discard}
	path, version, err := s.PyPI(t.Context(), "locust", file)
	must.Succeed(t, err)
	same.As(t, "found", []string{filepath.Join(folder, "locust-2.0.1", "bin", "locust"), "2.0.1"}, []string{path, version})
	if _, _, err := s.PyPI(t.Context(), "vent", file); err == nil || !strings.HasSuffix(err.Error(), "does not pin vent") {
		t.Errorf("PyPI of what is not pinned = %v", err)
	}
	if _, _, err := s.PyPI(t.Context(), "locust", file+"x"); !os.IsNotExist(err) {
		t.Errorf("PyPI without requirements = %v", err)
	}
	t.Setenv("PATH", folder) // no python3 there
	must.Succeed(t, os.WriteFile(file, []byte(requirements+"flask==1.0\n"), 0o600))
	if _, version, err := s.PyPI(t.Context(), "locust", file); err == nil || version != "2.0.1" {
		t.Errorf("PyPI with other requirements = %s, %v; want that it is installed again, which fails here", version, err)
	}
}
