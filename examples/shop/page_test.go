package main

import (
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/docs/console"
	"github.com/loadtest-dev/loadtest-operator/hack/docs/page"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

const (
	// tries is how often the page is begun at most: on a machine that is busy a run may be
	// inconclusive, or slower than its thresholds allow.
	tries = 3
	// listens is where the page says that the shop listens.
	listens = "127.0.0.1:8080"
	// start is how the page starts the shop.
	start = "go run ./examples/shop"
)

// TestFirstHalfHour types the commands of docs/first-half-hour.md in a folder with the files
// that the page shows, and compares what they print with the page. It starts the shop where the
// page does. Of the other blocks of the language sh it types nothing: they build what is under test. What
// needs a cluster is typed by test/e2e/runs.
func TestFirstHalfHour(t *testing.T) {
	blocks := blocksOf(t, "../../docs/first-half-hour.md")
	t.Parallel()
	tryAgain(t, func(r *reader) (string, bool) {
		problem, measured := r.goThrough(blocks)
		if problem == "" && (r.typed < 10 || r.shops != 2) {
			t.Errorf("%d commands were typed and %d shops started: the page has more", r.typed, r.shops)
		}
		return problem, measured
	})
}

// bracket is the second value of a time, and the head that explains it. Whether a report has any follows
// from how late the generator was.
var bracket = regexp.MustCompile(` \((?:\d[^)]*|in parentheses: [^)]*)\)`)

// TestTryPrintsWhatReadmeShows runs the plugin's command try, as make try does, and compares it with the block of README.md that
// shows a report.
func TestTryPrintsWhatReadmeShows(t *testing.T) {
	blocks := blocksOf(t, "../../README.md")
	at := slices.IndexFunc(blocks, func(b page.Block) bool { return strings.HasPrefix(b.Text, "LoadTest local/try-shortener\n") })
	if at < 0 {
		t.Fatal("README.md does not show what make try prints")
	}
	t.Parallel()
	shown := console.Command{Line: "kubectl loadtest try --serve shortener --html try.html", Want: strings.Split(strings.TrimSpace(bracket.ReplaceAllString(blocks[at].Text, "")), "\n")}
	tryAgain(t, func(r *reader) (string, bool) {
		out, err := r.typeIn(shown.Line)
		if missing := shown.Missing(bracket.ReplaceAllString(out, "")); err != nil || missing != "" {
			return fmt.Sprintf("%s: %v: it does not print\n%s\nbut\n%s", shown.Line, err, missing, out), true
		}
		return "", false
	})
}

func blocksOf(t *testing.T, file string) []page.Block {
	t.Helper()
	text, err := os.ReadFile(file)
	must.Succeed(t, err)
	return page.Parse(text).Blocks
}

// tryAgain does what a page says until all of it is true, and again only if what is not true was
// measured on a machine that says itself that it was busy.
func tryAgain(t *testing.T, do func(*reader) (problem string, measured bool)) {
	t.Helper()
	for try := 1; ; try++ {
		machine := pressure.Start()
		r := newReader(t)
		problem, measured := do(r)
		r.close()
		reading := machine.Read()
		switch {
		case problem == "":
			excuses.Right()
			return
		case !measured || !reading.Busy():
			t.Fatalf("%s (%s)", problem, reading)
		case try == tries:
			excuses.Takes(t.Name(), true, reading)
			t.Skipf("in each of %d tries the machine was busy (%s): %s", tries, reading, problem)
		}
	}
}

// reader does what the page says.
type reader struct {
	t           *testing.T
	folder, bin string
	shop        *httptest.Server
	// address is where the first shop listened, and the next one listens again.
	address string
	// typed is how many commands were typed, and shops how many shops started.
	typed, shops int
}

func newReader(t *testing.T) *reader {
	t.Helper()
	r := &reader{t: t, folder: t.TempDir(), bin: t.TempDir(), address: "127.0.0.1:0"}
	this, err := os.Executable()
	must.Succeed(t, err)
	must.Succeed(t, os.Symlink(this, filepath.Join(r.bin, plugin)))
	// kubectl finds the plugin by its name.
	kubectl := "#!/bin/sh\n[ \"$1\" = loadtest ] || exit 64\nshift\nexec " + plugin + " \"$@\"\n"
	must.Succeed(t, os.WriteFile(filepath.Join(r.bin, "kubectl"), []byte(kubectl), 0o700))
	return r
}

func (r *reader) close() {
	if r.shop != nil {
		r.shop.Close()
	}
}

// measurement is a command whose output depends on what was measured, and so on the machine.
var measurement = regexp.MustCompile(`^kubectl loadtest (run|report|compare) `)

// goThrough says what of the page is not true, and whether that follows from a measurement; empty:
// all of it is true.
func (r *reader) goThrough(blocks []page.Block) (problem string, measured bool) {
	for _, b := range blocks {
		_, file, named := strings.Cut(b.Info, " ")
		switch {
		case b.Language == "yaml" && named:
			must.Succeed(r.t, os.WriteFile(filepath.Join(r.folder, file), []byte(b.Text), 0o600))
		case b.Language == "sh" && strings.HasPrefix(b.Text, start):
			r.startShop(strings.Fields(strings.TrimPrefix(b.Text, start)))
		case b.Info == "console": // others need a cluster
			for _, c := range console.Parse(b.Text) {
				begin := time.Now()
				out, err := r.typeIn(c.Line)
				r.t.Logf("%s: %s took %s", b.Section, c.Line, time.Since(begin).Round(time.Millisecond))
				missing := c.Missing(out)
				if err != nil {
					return fmt.Sprintf("%s: %v\n%s", c.Line, err, out), measurement.MatchString(c.Line)
				}
				if missing != "" {
					return fmt.Sprintf("%s does not print\n%s\nbut\n%s", c.Line, missing, out), measurement.MatchString(c.Line)
				}
			}
		}
	}
	return "", false
}

// startShop starts a shop, in the place of the one before.
func (r *reader) startShop(args []string) {
	r.t.Helper()
	r.close()
	o, err := parseOptions(args)
	must.Succeed(r.t, err)
	handler, err := newShop(o.tills)
	must.Succeed(r.t, err)
	listener, err := net.Listen("tcp", r.address)
	must.Succeed(r.t, err)
	r.shop = httptest.NewUnstartedServer(handler)
	must.Succeed(r.t, r.shop.Listener.Close())
	r.shop.Listener, r.address = listener, listener.Addr().String()
	r.shop.Start()
	r.shops++
}

// typeIn runs a command line as a shell does.
func (r *reader) typeIn(line string) (string, error) {
	r.typed++
	c := exec.CommandContext(r.t.Context(), "bash", "--noprofile", "--norc", "-c", strings.ReplaceAll(line, listens, r.address))
	c.Dir = r.folder
	c.Env = []string{"PATH=" + r.bin + ":/usr/bin:/bin", "KUBECONFIG=/does/not/exist"}
	out, err := c.CombinedOutput()
	return strings.ReplaceAll(string(out), r.address, listens), err
}
