package provisioner

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// run runs a provisioner until the test ends.
func run(t *testing.T, s *server) (folder string, said func() string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "volumes")
	var mu sync.Mutex
	var text strings.Builder
	p := Provisioner{Server: s.URL, TLS: s.identity(), Folder: folder, Say: func(format string, args ...any) {
		mu.Lock()
		fmt.Fprintf(&text, format+"\n", args...)
		mu.Unlock()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.poke()
	}}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	return folder, func() string {
		mu.Lock()
		defer mu.Unlock()
		return text.String()
	}
}

func TestTheLifeOfAVolume(t *testing.T) {
	s := newServer(t)
	folder, said := run(t, s)

	s.change(func() { s.claims = []claim{claimOf("1")} })
	s.await(t, "a volume is made", func() bool { return len(s.volumes) == 1 })
	path := filepath.Join(folder, "pvc-1")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o777 {
		t.Fatalf("the volume's folder: %v, %v, want one that all may write to", info, err)
	}
	if diff := cmp.Diff([]volume{volumeFor(claimOf("1"), folder)}, s.volumes); diff != "" {
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(filepath.Join(path, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	s.change(func() { s.claims, s.volumes[0].Status.Phase = nil, "Released" })
	s.await(t, "the volume is removed", func() bool { return len(s.volumes) == 0 })
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the volume's folder is still there (%v)", err)
	}
	s.await(t, "both are told", func() bool {
		return said() == "made volume pvc-1 for claim shop/data\nremoved volume pvc-1 of claim shop/data\n"
	})
}

// The world as it was when the provisioner started counts, too.
func TestWhatWasMissedIsDone(t *testing.T) {
	s := newServer(t)
	s.change(func() { s.claims, s.volumes = []claim{claimOf("2")}, []volume{volumeOf("1", "Released")} })
	run(t, s)
	s.await(t, "one is made, the other removed", func() bool {
		return len(s.volumes) == 1 && s.volumes[0].Metadata.Name == "pvc-2"
	})
}

func TestFailuresAreTriedAgain(t *testing.T) {
	for name, fail := range map[string]string{
		"list": http.MethodGet, "create": http.MethodPost, "delete": http.MethodDelete,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.change(func() { s.fail[fail] = http.StatusInternalServerError })
			_, said := run(t, s)
			s.change(func() { s.claims, s.volumes = []claim{claimOf("2")}, []volume{volumeOf("1", "Released")} })
			s.await(t, "all is done in the end", func() bool {
				return len(s.volumes) == 1 && s.volumes[0].Metadata.Name == "pvc-2"
			})
			s.await(t, "the failure is told", func() bool { return strings.Contains(said(), "500 Internal Server Error") })
		})
	}
}

func TestANameCannotLeadOutOfTheFolder(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "host")
	if err := os.Mkdir(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	s := newServer(t)
	folder, _ := run(t, s)
	s.change(func() {
		s.volumes = []volume{volumeOf("1", "Released", func(v *volume) {
			v.Metadata.Name = "host"
			v.Spec.Local.Path = outside
		})}
	})
	s.await(t, "the volume is removed", func() bool { return len(s.volumes) == 0 })
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("a folder outside %s was removed: %v", folder, err)
	}
	p := Provisioner{Folder: folder}
	if got := p.folder(volume{Metadata: metadata{Name: "../../etc"}}); got != filepath.Join(folder, "etc") {
		t.Errorf("folder = %s, want it in %s", got, folder)
	}
}

func TestAClaimThatCannotBeServedIsNamed(t *testing.T) {
	s := newServer(t)
	_, said := run(t, s)
	s.change(func() {
		s.claims = []claim{claimOf("1", func(c *claim) { c.Spec.VolumeMode = "Block" }), claimOf("2")}
	})
	s.await(t, "the other one is served", func() bool { return len(s.volumes) == 1 })
	if !strings.Contains(said(), "shop/data wants a volume of mode Block") {
		t.Errorf("said %q, want the reason", said())
	}
}
