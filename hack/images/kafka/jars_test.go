package kafka

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

// jarsOf fetches the given files and counts how often.
func jarsOf(t *testing.T, files map[string]string) (j Jars, fetched *int) {
	t.Helper()
	fetched = new(int)
	j = Jars{CacheDir: filepath.Join(t.TempDir(), "new"), Fetch: func(_ context.Context, folder string) error {
		*fetched++
		return write(folder, files)
	}}
	var err error
	if j.Recorded, err = j.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	*fetched = 0
	return j, fetched
}

func write(folder string, files map[string]string) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func jars() map[string]string {
	return map[string]string{"broker.jar": "broker", "clients.jar": "clients"}
}

func TestJarsAreFetchedWhenTheyAreNotAsRecorded(t *testing.T) {
	tests := map[string]struct {
		change      func(libs string) error
		wantFetched int
	}{
		"as recorded":      {change: func(string) error { return nil }},
		"one is missing":   {change: func(libs string) error { return os.Remove(filepath.Join(libs, "broker.jar")) }, wantFetched: 1},
		"one was tampered": {change: func(libs string) error { return write(libs, map[string]string{"broker.jar": "x"}) }, wantFetched: 1},
		"one too many":     {change: func(libs string) error { return write(libs, map[string]string{"old.jar": "x"}) }, wantFetched: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j, fetched := jarsOf(t, jars())
			home, cached, err := j.Home(t.Context())
			if err != nil || cached || *fetched != 1 {
				t.Fatalf("first time: cached = %t after %d fetches, error %v", cached, *fetched, err)
			}
			must.Succeed(t, tt.change(filepath.Join(home, "libs")))
			*fetched = 0
			again, cached, err := j.Home(t.Context())
			must.Succeed(t, err)
			if again != home || *fetched != tt.wantFetched || cached != (tt.wantFetched == 0) {
				t.Errorf("home %s, cached = %t after %d fetches, want %s and %d fetches", again, cached, *fetched, home, tt.wantFetched)
			}
			wantOnly(t, j.CacheDir, "kafka-"+Version)
			wantOnly(t, filepath.Join(home, "libs"), "broker.jar", "clients.jar")
		})
	}
}

func TestHomeRefusesOtherJars(t *testing.T) {
	tests := map[string]struct {
		change func(files map[string]string)
		want   string
	}{
		"other content": {
			change: func(files map[string]string) { files["broker.jar"] = "evil" },
			want:   "the jars that were fetched: broker.jar has the SHA-256 sum ",
		},
		"a missing one": {
			change: func(files map[string]string) { delete(files, "broker.jar") },
			want:   "the jars that were fetched: broker.jar is missing",
		},
		"another one": {
			change: func(files map[string]string) { files["evil.jar"] = "evil" },
			want:   "the jars that were fetched: evil.jar is not in jars.sha256",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			files := jars()
			j, _ := jarsOf(t, files)
			tt.change(files)
			if _, _, err := j.Home(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %s", err, tt.want)
			}
			wantOnly(t, j.CacheDir)
		})
	}
}

// The slower call does not replace the jars of the faster one: they are in use.
func TestJarsInUseAreNotReplaced(t *testing.T) {
	j, _ := jarsOf(t, jars())
	slower := j
	var used os.FileInfo
	slower.Fetch = func(ctx context.Context, folder string) error {
		home, _, err := j.Home(ctx)
		if err != nil {
			return err
		}
		if used, err = os.Stat(home); err != nil {
			return err
		}
		return write(folder, jars())
	}
	home, _, err := slower.Home(t.Context())
	must.Succeed(t, err)
	if now, err := os.Stat(home); err != nil || !os.SameFile(used, now) {
		t.Errorf("the jars of the faster one are gone (%v)", err)
	}
	wantOnly(t, j.CacheDir, "kafka-"+Version)
}

func TestJarsThatCannotBeHadLeaveNothing(t *testing.T) {
	j, _ := jarsOf(t, jars())
	j.Fetch = func(context.Context, string) error { return errors.New("no network") }
	if _, _, err := j.Home(t.Context()); err == nil || err.Error() != "fetch Kafka "+Version+": no network" {
		t.Errorf("error = %v, want the one of fetching", err)
	}
	if _, err := j.Lock(t.Context()); err == nil {
		t.Error("locked what could not be fetched")
	}
	wantOnly(t, j.CacheDir)
	j.Recorded = []byte("no sum\n")
	if _, _, err := j.Home(t.Context()); err == nil || !strings.Contains(err.Error(), `read jars.sha256: line "no sum\n"`) {
		t.Errorf("error = %v, want it to name the line", err)
	}
}

// What is recorded in the repository is what pom.xml names.
func TestRecordedJarsAreThoseOfThePom(t *testing.T) {
	d, err := parse(recorded)
	must.Succeed(t, err)
	same.As(t, "jars.sha256", string(recorded), string(d.format()))
	for _, name := range []string{"kafka_2.13-" + Version + ".jar", "kafka-server-" + Version + ".jar"} {
		if _, ok := d[name]; !ok {
			t.Errorf("jars.sha256 has no %s among %q", name, slices.Sorted(maps.Keys(d)))
		}
	}
	if want := "<version>" + Version + "</version>"; !strings.Contains(string(pom), want) {
		t.Errorf("pom.xml has no %s", want)
	}
}

func TestBrokenSumsAreRefused(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	for name, text := range map[string]string{
		"empty":       "",
		"no name":     sum + "\n",
		"one space":   sum + " a.jar\n",
		"a short sum": sum[2:] + "  a.jar\n",
		"no digits":   strings.Repeat("xy", 32) + "  a.jar\n",
		"a path":      sum + "  ../a.jar\n",
	} {
		if d, err := parse([]byte(text)); err == nil {
			t.Errorf("%s: parsed %v, want an error", name, d)
		}
	}
}

func TestMavenIsGivenThePomAndTheFolder(t *testing.T) {
	dir := t.TempDir()
	mvn := "#!/bin/sh\necho \"$@\" > " + dir + "/args\nfor a in \"$@\"; do case \"$a\" in *.xml) cat \"$a\" > " + dir + "/pom;; esac; done\n"
	if err := os.WriteFile(filepath.Join(dir, "mvn"), []byte(mvn), 0o700); err != nil { // a program is to be run
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	must.Succeed(t, Maven(t.Context(), "/jars"))
	args, err := os.ReadFile(filepath.Join(dir, "args"))
	if err != nil || !strings.HasSuffix(string(args), ":copy-dependencies -DincludeScope=runtime -DoutputDirectory=/jars\n") {
		t.Errorf("mvn was called with %q (%v)", args, err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "pom"))
	if diff := cmp.Diff(string(pom), string(got)); diff != "" || err != nil {
		t.Errorf("pom.xml (-want +got), %v:\n%s", err, diff)
	}
	must.Succeed(t, write(dir, map[string]string{"mvn": "#!/bin/sh\necho no route to host; exit 1\n"}))
	if err := Maven(t.Context(), "/jars"); err == nil || err.Error() != "mvn: exit status 1\nno route to host" {
		t.Errorf("error = %v, want mvn's", err)
	}
}

func wantOnly(t *testing.T, folder string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must.Succeed(t, err)
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	same.As(t, "files in "+filepath.Base(folder), want, got)
}
