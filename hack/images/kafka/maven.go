package kafka

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed pom.xml
var pom []byte

// copyDependencies is the goal of Maven's dependency plugin, in a version of
// ours: its files go nowhere but to Maven's own cache.
const copyDependencies = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"

// Maven has the host's mvn copy the jars that pom.xml names, and those that
// they need, into the folder.
func Maven(ctx context.Context, folder string) error {
	project, err := os.MkdirTemp("", "kafka-pom-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(project)
	file := filepath.Join(project, "pom.xml")
	if err := os.WriteFile(file, pom, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "mvn", "--batch-mode", "--quiet", "--file", file,
		copyDependencies, "-DincludeScope=runtime", "-DoutputDirectory="+folder)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mvn: %w\n%s", err, strings.TrimSpace(string(output)))
	}
	return nil
}
