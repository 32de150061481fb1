package apiserver

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Kubectl returns a function that runs kubectl as a person would, with input on
// its standard input, and returns what the person would see.
func Kubectl(t testing.TB) func(input string, args ...string) (output string, err error) {
	t.Helper()
	Config(t) // fails the test when there is no server
	home := t.TempDir()
	path := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(path, current.environment.KubeConfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return func(input string, args ...string) (string, error) {
		command := exec.CommandContext(t.Context(), filepath.Join(current.assets, "kubectl"), args...)
		command.Env = []string{"KUBECONFIG=" + path, "HOME=" + home}
		command.Stdin = strings.NewReader(input)
		var output bytes.Buffer
		command.Stdout, command.Stderr = &output, &output
		err := command.Run()
		return output.String(), err
	}
}

// Kustomize builds a folder of manifests by kubectl kustomize; it needs no
// server.
func Kustomize(ctx context.Context, folder string) ([]byte, error) {
	dir, err := assets(os.Getenv)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, filepath.Join(dir, "kubectl"), "kustomize", folder)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("kubectl kustomize %s: %w: %s", folder, err, &stderr)
	}
	return output, nil
}
