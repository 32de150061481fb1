package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// task is the first line of the input.
type task struct {
	Address     string `json:"address"`
	Connections int    `json:"connections"`
	Times       string `json:"times"`
	Speed       int64  `json:"speed"`
}

func main() {
	debug.SetGCPercent(-1) // nothing is allocated while it sends
	runtime.LockOSThread()
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sender:", err)
		os.Exit(1)
	}
}

func run(stdin io.Reader, stdout io.Writer) error {
	in, out := bufio.NewReader(stdin), json.NewEncoder(stdout)
	var t task
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &t)
	}
	if err != nil {
		return fmt.Errorf("the first line: %w", err)
	}
	times, err := readTimes(t)
	if err != nil {
		return err
	}
	s, err := open(t)
	if err != nil {
		return err
	}
	defer s.close()
	if err := out.Encode(map[string]bool{"ready": true}); err != nil {
		return err
	}
	text, err := in.ReadString('\n')
	if err != nil {
		return fmt.Errorf("the instant: %w", err)
	}
	start, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return fmt.Errorf("the instant: %w", err)
	}
	for i := range times {
		times[i] += start
	}
	if err := s.send(times); err != nil {
		return err
	}
	return out.Encode(map[string]int{"sent": len(times)})
}

// readTimes are when requests are due after the start.
func readTimes(t task) ([]int64, error) {
	content, err := os.ReadFile(t.Times)
	switch {
	case err != nil:
		return nil, err
	case t.Speed < 1 || len(content)%8 != 0:
		return nil, fmt.Errorf("speed %d must be positive, and %s must have numbers of 8 bytes", t.Speed, t.Times)
	}
	times := make([]int64, len(content)/8)
	for i := range times {
		times[i] = int64(binary.LittleEndian.Uint64(content[8*i:])) / t.Speed
	}
	return times, nil
}
