// The race detector looks at the tests of this file, too: archives are read beside their pages.

package command_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// archived writes an archive, as the operator does.
func archived(t *testing.T, folder, namespace, name, uid, content string) string {
	t.Helper()
	dir := filepath.Join(folder, namespace, name)
	must.Succeed(t, os.MkdirAll(dir, 0o750))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(content))
	must.Succeed(t, err)
	must.Succeed(t, z.Close())
	path := filepath.Join(dir, uid+".json.gz")
	must.Succeed(t, os.WriteFile(path, packed.Bytes(), 0o600))
	return path
}

// nights is a folder with archives of runs with these p95.
func nights(t *testing.T, times ...string) string {
	t.Helper()
	folder := t.TempDir()
	for i, doc := range strings.Split(finishedRuns(times...), "---\n") {
		archived(t, folder, "shop", fmt.Sprintf("nightly-%d", i+1), fmt.Sprint("u", i+1), doc)
	}
	return folder
}

func TestTrendOfArchives(t *testing.T) {
	t.Parallel()
	u := newTestUser(t)
	folder := nights(t, "40ms", "41ms", "40ms", "52ms", "51ms", "52ms")
	archived(t, folder, "shop", "nightly-0", "broken", "{")
	archived(t, folder, "shop", "weekly-1", "other", "{") // is not read
	archived(t, folder, "other", "nightly-7", "u7", "{")
	must.Succeed(t, os.Symlink("/etc/passwd", filepath.Join(folder, "shop", "nightly-0", "link.json.gz")))
	got := u.run("trend", "nightly", "-n", "shop", "--from", folder)
	contains(t, "the trend", got.out, "nightly-1   2026-11-01 02:30   Passed", "p95 has another level since nightly-4 (2026-11-04 02:30): 52ms instead of 40ms, +30 %.")
	if got.code != 0 || strings.Count(got.err, "Left out: ") != 1 || !strings.Contains(got.err, "nightly-0") {
		t.Errorf("exit code %d, and %q, want that one archive is left out", got.code, got.err)
	}
	u.refuses(map[string][]string{
		"contains no shop/none*/*.json.gz":            {"trend", "none", "-n", "shop", "--from", folder},
		"is not a folder":                             {"trend", "nightly", "--from", folder + "/nothing"},
		"has no finished run of schedule or name nig": {"trend", "nig", "-n", "shop", "--from", folder},
		"give either -f or --from, not both":          {"trend", "-f", "x.yaml", "--from", folder},
		"give the name of a schedule":                 {"trend", "--from", folder},
	})
}

// Of many archives the newest are read, and it is said that others are not.
func TestArchivesAreBounded(t *testing.T) {
	t.Parallel()
	folder := nights(t, "40ms", "41ms", "40ms")
	doc := strings.Split(finishedRuns("40ms"), "---\n")[0]
	for i := range 1000 {
		path := archived(t, folder, "shop", "nightly-1", fmt.Sprint("old-", i), doc)
		old := time.Date(2020, 1, 1, 0, 0, i, 0, time.UTC)
		must.Succeed(t, os.Chtimes(path, old, old))
	}
	got := newTestUser(t).run("trend", "nightly", "-n", "shop", "--from", folder)
	contains(t, "the error", got.err, "The newest 1000 archives are read; 3 older ones are left out.")
	contains(t, "the trend", got.out, "nightly-3 ")
}

// Pages of archives need no cluster, and nothing can be done on them.
func TestUIOfArchives(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.kubeconfig = "/dev/null"
	folder := nights(t, "40ms", "41ms", "40ms", "52ms", "51ms", "52ms")
	earlier := archived(t, folder, "shop", "nightly-2", "earlier", strings.Split(finishedRuns("1ms", "777ms"), "---\n")[1])
	must.Succeed(t, os.Chtimes(earlier, time.Unix(1, 0), time.Unix(1, 0)))
	archived(t, folder, "shop", "hostile", "broken", "<script>alert(1)</script>")
	got := p.serve(func(address string) {
		if code, _ := fetch(t, http.MethodGet, address+"run/shop/none"); code != http.StatusNotFound { // once all are read
			t.Errorf("a run that is in no archive: %d", code)
		}
		code, page := fetch(t, http.MethodGet, address+"run/shop/nightly-4")
		if code != http.StatusOK {
			t.Errorf("the run: %d", code)
		}
		contains(t, "the page", page, "<h1>nightly-4</h1>", "10 sent")
		if strings.Contains(page, "Run again") || strings.Contains(page, "Stop") {
			t.Error("the page offers what cannot be done")
		}
		_, history := fetch(t, http.MethodGet, address+"history/shop/nightly")
		if strings.Contains(history, "777ms") { // the page has other numbers, such as its port
			t.Error("an earlier run of the same name is shown")
		}
		contains(t, "the history", history, "p95 has another level since nightly-4")
		_, list := fetch(t, http.MethodGet, address)
		contains(t, "the list", list, "1 archive cannot be read", "the archives in")
		if code, _ := fetch(t, http.MethodPost, address+"stop/shop/nightly-4"); code == http.StatusOK {
			t.Error("an archive was stopped")
		}
		if strings.Contains(list, "<script>alert") {
			t.Error("what a file holds is markup")
		}
	}, "--from", folder)
	got.exits(t, 0)
	p.run("ui", "--from", folder+"/nothing").fails(t, "is not a folder")
}
