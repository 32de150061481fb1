package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// count is what was received under one name.
type count struct {
	Received int64 `json:"received"`
	// Wrong is how many of them were answered with a server error.
	Wrong int64 `json:"wrong"`
	// Stored is how often those were stored that say how often they are to be.
	Stored int64 `json:"stored"`
	// Traced is how many had a valid trace context, Sampled how many of these are to be
	// recorded, and Held has the trace ids of those that were answered late, each with a
	// space after it.
	Traced  int64  `json:"traced"`
	Sampled int64  `json:"sampled"`
	Held    string `json:"held,omitempty"`
	// Longest is the longest time that the target took for one of them, without a delay
	// that it asked for, and Stood for how long the target stood still around them, in all:
	// nanoseconds, as far as this process saw it.
	Longest time.Duration `json:"longest"`
	Stood   time.Duration `json:"stood"`
}

// counts are the counts of all names, as files of a folder.
type counts struct {
	folder string
	mu     sync.Mutex
	files  map[string]*os.File
}

const (
	received = "received"
	wrong    = "wrong"
	stored   = "stored"
	traced   = "traced"
	sampled  = "sampled"
	held     = "held"
)

var nameFormat = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// add counts one request under a name.
func (c *counts) add(name, kind string) error { return c.append(name, kind, ".") }

// append adds a text to the file of a count, which is a byte for what is counted.
func (c *counts) append(name, kind, text string) error {
	f, err := c.file(name + "." + kind)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		return fmt.Errorf("count %s: %w", name, err)
	}
	return nil
}

// file opens the file of a count, once. Bytes that are appended at once by several
// requests are all kept.
func (c *counts) file(name string) (*os.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.files[name]; ok {
		return f, nil
	}
	f, err := os.OpenFile(filepath.Join(c.folder, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open count: %w", err)
	}
	if c.files == nil {
		c.files = map[string]*os.File{}
	}
	c.files[name] = f
	return f, nil
}

// all reads the counts, those of earlier processes included.
func (c *counts) all() (map[string]count, error) {
	entries, err := os.ReadDir(c.folder)
	if err != nil {
		return nil, fmt.Errorf("read counts: %w", err)
	}
	out := map[string]count{}
	for _, e := range entries {
		name, kind, _ := strings.Cut(e.Name(), ".")
		info, err := e.Info()
		if err != nil {
			return nil, fmt.Errorf("read count %s: %w", name, err)
		}
		n := out[name]
		switch kind {
		case received:
			n.Received = info.Size()
		case wrong:
			n.Wrong = info.Size()
		case stored:
			n.Stored = info.Size()
		case traced:
			n.Traced = info.Size()
		case sampled:
			n.Sampled = info.Size()
		case held:
			ids, err := os.ReadFile(filepath.Join(c.folder, e.Name()))
			if err != nil {
				return nil, fmt.Errorf("read the traces of %s: %w", name, err)
			}
			n.Held = string(ids)
		default:
			continue
		}
		out[name] = n
	}
	return out, nil
}
