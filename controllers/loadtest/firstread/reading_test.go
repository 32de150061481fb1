package firstread_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/firstread"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// read runs an informer of a store until the test ends.
func read(t *testing.T, r *firstread.Reading, s *store) toolscache.SharedIndexInformer {
	t.Helper()
	informer := r.Informer(firstread.What{First: first, Strip: strip}, s, &corev1.ConfigMap{}, 0, toolscache.Indexers{})
	// The default one waits by the clock of the machine, which is far from the bubble's.
	must.Succeed(t, informer.SetWatchErrorHandlerWithContext(func(context.Context, *toolscache.Reflector, error) {}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		informer.RunWithContext(ctx)
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return informer
}

func strip(o any) (any, error) {
	delete(o.(*corev1.ConfigMap).Data, "much")
	return o, nil
}

// inCache are the versions of what the cache has, by key.
func inCache(informer toolscache.SharedIndexInformer) map[string]string {
	all := map[string]string{}
	for _, o := range informer.GetStore().List() {
		c := o.(*corev1.ConfigMap)
		all[c.Namespace+"/"+c.Name] = c.ResourceVersion
	}
	return all
}

func version(t *testing.T, o *corev1.ConfigMap) int {
	n, err := strconv.Atoi(o.ResourceVersion)
	if err != nil {
		t.Error(err)
	}
	return n
}

// crowd stores so many objects, each tenth of which is first.
func crowd(s *store, n int) {
	for i := range n {
		s.put(fmt.Sprintf("o%03d", i), i%10 == 0)
	}
}

// What is first is of use while all else cannot be read yet, and what changes meanwhile is seen.
func TestCacheHasWhatIsFirstBeforeAllElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, may := newStore(), make(chan struct{})
		crowd(s, 85)
		s.beforePage = func(ctx context.Context) error {
			select {
			case <-may:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		reading := firstread.New(1)
		informer := read(t, reading, s)
		synctest.Wait()
		if got := len(inCache(informer)); got != 9 || !informer.HasSynced() || reading.Complete() {
			t.Fatalf("%d in the cache, synced %t, complete %t; want the 9 that are first", got, informer.HasSynced(), reading.Complete())
		}
		s.put("o001", true)
		s.remove("o000")
		s.remove("o002") // it has not been read
		s.put("new", false)
		synctest.Wait()
		if got := slices.Sorted(maps.Keys(inCache(informer))); len(got) != 10 || got[0] != "a/new" || got[1] != "a/o001" {
			t.Fatalf("%v in the cache, want what is first, and what has changed", got)
		}
		close(may)
		synctest.Wait()
		if diff := cmp.Diff(s.stored(), inCache(informer)); diff != "" || !reading.Complete() {
			t.Errorf("complete %t (-stored +cached):\n%s", reading.Complete(), diff)
		}
		if longest := slices.Max(s.pages); longest != 10 || s.watches != 1 {
			t.Errorf("a page of %d and %d watches, want 10 at most and one", longest, s.watches)
		}
		for _, o := range informer.GetStore().List() {
			if c := o.(*corev1.ConfigMap); c.Data["much"] != "" && c.Name != "new" && c.Name != "o001" {
				t.Errorf("%s is kept whole", c.Name) // of events, the informer's transform does it
			}
		}
	})
}

// Whatever fails or changes while all is read, what the cache has of an object only becomes newer, ends
// with what is stored, and has, once the reading is complete, all that was stored throughout.
func TestCacheEndsWithWhatIsStored(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			random, faults := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 1))
			s := newStore()
			crowd(s, 70)
			s.beforePage = func(ctx context.Context) error {
				<-time.After(time.Duration(faults.IntN(1000)) * time.Millisecond)
				if faults.IntN(5) == 0 {
					return fmt.Errorf("the API server is away")
				}
				return ctx.Err()
			}
			lags := rand.New(rand.NewPCG(seed, 2))
			s.beforeEvents = func() { <-time.After(time.Duration(lags.IntN(3000)) * time.Millisecond) }
			reading := firstread.New(1)
			informer := read(t, reading, s)
			_, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
				if b, a := before.(*corev1.ConfigMap), after.(*corev1.ConfigMap); version(t, a) < version(t, b) {
					t.Errorf("seed %d: %s is of version %s after %s", seed, a.Name, a.ResourceVersion, b.ResourceVersion)
				}
			}})
			must.Succeed(t, err)
			go func() {
				<-reading.Done()
				for i := 50; i < 70; i++ { // which nothing below removes
					if key := fmt.Sprintf("a/o%03d", i); inCache(informer)[key] == "" {
						t.Errorf("seed %d: %s is not in the cache", seed, key)
					}
				}
			}()
			for range 60 {
				<-time.After(time.Duration(random.IntN(300)) * time.Millisecond)
				name := fmt.Sprintf("o%03d", random.IntN(50))
				switch random.IntN(6) {
				case 0:
					s.compact()
				case 1, 2:
					s.remove(name)
				default:
					s.put(name, random.IntN(2) == 0)
				}
			}
			<-time.After(10 * time.Minute) // for the back-off of the reflector
			synctest.Wait()
			if diff := cmp.Diff(s.stored(), inCache(informer)); diff != "" || !reading.Complete() {
				t.Fatalf("seed %d: complete %t (-stored +cached):\n%s", seed, reading.Complete(), diff)
			}
		})
	}
}

// A CRD that is older than the operator cannot select what is first.
func TestAllIsReadWhereWhatIsFirstCannotBeSelected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		crowd(s, 45)
		s.selects = false
		reading := firstread.New(1)
		informer := read(t, reading, s)
		synctest.Wait()
		if diff := cmp.Diff(s.stored(), inCache(informer)); diff != "" || !reading.Complete() {
			t.Errorf("complete %t (-stored +cached):\n%s", reading.Complete(), diff)
		}
	})
}

// The reading of several namespaces is complete when each is; that of nothing is.
func TestReadingOfNamespacesIsCompleteWhenEachIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reading := firstread.New(2)
		read(t, reading, newStore())
		synctest.Wait()
		if reading.Complete() {
			t.Error("complete when one of two namespaces was read")
		}
		read(t, reading, newStore())
		synctest.Wait()
		if none := (*firstread.Reading)(nil); !reading.Complete() || !none.Complete() {
			t.Error("not complete, although all was read")
		}
	})
}
