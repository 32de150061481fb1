package network

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
)

// input runs a program with that text as its input; with none it does nothing.
func input(text, program string, args ...string) error {
	if text == "" {
		return nil
	}
	command := exec.Command(program, args...)
	command.Stdin = strings.NewReader(text)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s\ninput:\n%s", program, err, bytes.TrimSpace(out), text)
	}
	return nil
}

// output runs a program and returns what it prints.
func output(program string, args ...string) (string, error) {
	var stderr bytes.Buffer
	command := exec.Command(program, args...)
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(out), nil
}
