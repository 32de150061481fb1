package deploytest

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed program.sh
var program []byte

// Programs are in the PATH of a test, note their calls, and answer them.
type Programs struct {
	t                   *testing.T
	transcript, answers string
}

// New makes a PATH in which the programs of these names come first.
func New(t *testing.T, names ...string) *Programs {
	t.Helper()
	dir := t.TempDir()
	p := &Programs{t: t, transcript: filepath.Join(dir, "transcript"), answers: filepath.Join(dir, "answers")}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), program, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(p.answers, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("TRANSCRIPT", p.transcript)
	t.Setenv("ANSWERS", p.answers)
	return p
}

// Stub runs a shell script for calls that begin with words.
func (p *Programs) Stub(words, script string) {
	p.t.Helper()
	p.write(words, "case \"$call\" in\n'"+words+"'*)\n"+script+"\n;;\nesac\n")
}

func (p *Programs) write(words, answer string) {
	p.t.Helper()
	if err := os.WriteFile(p.answer(words), []byte(answer), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// Edit replaces a text in what calls that begin with words run.
func (p *Programs) Edit(words, from, to string) {
	p.t.Helper()
	answer, err := os.ReadFile(p.answer(words))
	if err != nil || !strings.Contains(string(answer), from) {
		p.t.Fatalf("no %q (%v) in\n%s", from, err, answer)
	}
	p.write(words, strings.Replace(string(answer), from, to, 1))
}

// answer is the file of what calls that begin with words run.
func (p *Programs) answer(words string) string {
	return filepath.Join(p.answers, strings.NewReplacer(" ", "_", "/", ":").Replace(words))
}

// Returns has calls that begin with words print an object, as kubectl get does.
func (p *Programs) Returns(words string, object any) {
	p.t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		p.t.Fatal(err)
	}
	p.Stub(words, "cat <<'END'\n"+string(text)+"\nEND")
}

// Calls are the calls so far, a line for each, without the folders of temporary files.
func (p *Programs) Calls() string {
	p.t.Helper()
	text, err := os.ReadFile(p.transcript)
	if err != nil {
		p.t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if at := strings.Index(line, os.TempDir()); at >= 0 {
			line = line[:at] + filepath.Base(line)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}
