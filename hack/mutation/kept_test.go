package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A result is that of the mutant and its tests: more tests may kill what lived, and leave
// dead what is killed.
func TestKeptResultsHoldForTheSameMutantAndItsTests(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for name, tt := range map[string]struct {
		change        map[string]string
		killed, lived bool // what is known after the change, if it was so before
	}{
		"nothing":                 {nil, true, true},
		"another test":            {map[string]string{"more_test.go": "package p // more"}, true, false},
		"a changed test":          {map[string]string{"p_test.go": "package p // other"}, false, false},
		"changed test data":       {map[string]string{"testdata/golden/a.txt": "b"}, false, false},
		"a test that is gone":     {map[string]string{"p_test.go": ""}, false, false},
		"another mutant":          {map[string]string{"p.go": "package p // mutant"}, false, false},
		"a file that is embedded": {map[string]string{"p.txt": "b"}, false, false},
		"a package below":         {map[string]string{"below/q.go": "package q // other"}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			for code, want := range map[int]bool{killed: tt.killed, lived: tt.lived, timedOut: tt.killed, notViable: tt.lived} {
				folder := t.TempDir()
				write(t, folder, map[string]string{
					"p.go": "package p", "p_test.go": "package p", "p.txt": "a", "testdata/golden/a.txt": "a", "below/q.go": "package q",
				})
				p := tested{Folder: "p", Needs: t.Name() + string(rune('0'+code))}
				kept, _, ok, err := p.recall(folder)
				if ok || err != nil {
					t.Fatalf("before: %v, %v", ok, err)
				}
				if err := kept.store(code); err != nil {
					t.Fatal(err)
				}
				write(t, folder, tt.change)
				_, got, ok, err := p.recall(folder)
				if ok != want || err != nil || ok && got != code {
					t.Errorf("code %d: known %v as %d, %v; want %v", code, ok, got, err, want)
				}
			}
		})
	}
}

// write writes files, and removes those without content.
func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(path, []byte(content), 0o600)
		if content == "" {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
