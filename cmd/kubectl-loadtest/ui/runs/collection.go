package runs

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// mostWhole is how many LoadTests are kept whole, and of how many the course is: those that
// were shown most recently. A LoadTest has at most 1.2 MB.
const mostWhole = 64

// Collection is the LoadTests and schedules that pages show. Its methods may be called at the
// same time; what they return is not changed afterwards.
type Collection struct {
	mu        sync.Mutex
	runs      map[Key]*Run
	schedules map[Key]*v1beta1.LoadTestSchedule
	// whole has a nil for a LoadTest that a page asked for and that no update brought yet.
	whole   *simplelru.LRU[Key, *v1beta1.LoadTest]
	courses *simplelru.LRU[Key, *course]
	// troubles are what keeps the collection from being up to date, by the kind that is
	// concerned; loaded says that all LoadTests were listed once.
	troubles map[string]string
	loaded   bool
	waiting  map[chan struct{}]bool
	// versions count the changes of each LoadTest, and changes all of them: those that are not of
	// one LoadTest are counted under the zero Key.
	versions map[Key]uint64
	changes  uint64
}

// NewCollection is an empty one.
func NewCollection() *Collection {
	whole, _ := simplelru.NewLRU[Key, *v1beta1.LoadTest](mostWhole, nil) // the error is of a size below 1
	courses, _ := simplelru.NewLRU[Key, *course](mostWhole, nil)
	return &Collection{
		runs: map[Key]*Run{}, schedules: map[Key]*v1beta1.LoadTestSchedule{}, whole: whole, courses: courses,
		troubles: map[string]string{}, waiting: map[chan struct{}]bool{}, versions: map[Key]uint64{},
	}
}

// Put takes a LoadTest, which nobody may change any more.
func (c *Collection) Put(lt *v1beta1.LoadTest) {
	run, key := New(lt), Key{lt.Namespace, lt.Name}
	c.change(key, func() {
		if old := c.runs[key]; old != nil && old.UID != run.UID {
			c.forget(key)
		}
		c.runs[key] = run
		if _, shown := c.whole.Peek(key); shown {
			c.whole.Add(key, lt)
		}
		if run.Finished {
			return
		}
		of, ok := c.courses.Get(key)
		if !ok {
			of = &course{}
			c.courses.Add(key, of)
		}
		of.observe(lt)
	})
}

// Remove drops a LoadTest that was deleted.
func (c *Collection) Remove(key Key) {
	c.change(key, func() {
		delete(c.runs, key)
		c.forget(key)
	})
}

// Keep drops the LoadTests that are not among those that were listed.
func (c *Collection) Keep(listed map[Key]bool) {
	c.change(Key{}, func() {
		for key := range c.runs {
			if !listed[key] {
				c.versions[key]++
				delete(c.runs, key)
				c.forget(key)
			}
		}
		c.loaded = true
	})
}

// Complete says that all LoadTests are there, as those of this machine always are.
func (c *Collection) Complete() { c.change(Key{}, func() { c.loaded = true }) }

func (c *Collection) forget(key Key) {
	c.whole.Remove(key)
	c.courses.Remove(key)
}

// PutSchedule takes a schedule, which nobody may change any more.
func (c *Collection) PutSchedule(s *v1beta1.LoadTestSchedule) {
	c.change(Key{}, func() { c.schedules[Key{s.Namespace, s.Name}] = s })
}

// RemoveSchedule drops a schedule that was deleted.
func (c *Collection) RemoveSchedule(key Key) { c.change(Key{}, func() { delete(c.schedules, key) }) }

// KeepSchedules drops the schedules that are not among those that were listed.
func (c *Collection) KeepSchedules(listed map[Key]bool) {
	c.change(Key{}, func() {
		maps.DeleteFunc(c.schedules, func(key Key, _ *v1beta1.LoadTestSchedule) bool { return !listed[key] })
	})
}

// Trouble notes what keeps objects of a kind from being up to date; "": nothing does.
func (c *Collection) Trouble(kind, sentence string) {
	c.mu.Lock()
	same := c.troubles[kind] == sentence
	c.mu.Unlock()
	if same {
		return
	}
	c.change(Key{}, func() {
		c.troubles[kind] = sentence
		if sentence == "" {
			delete(c.troubles, kind)
		}
	})
}

// Want keeps a LoadTest whole from now on. It returns the LoadTest if it is known.
func (c *Collection) Want(key Key) *v1beta1.LoadTest {
	c.mu.Lock()
	defer c.mu.Unlock()
	lt, ok := c.whole.Get(key)
	if !ok {
		c.whole.Add(key, nil)
	}
	return lt
}

// Read takes a LoadTest that was read because it is wanted. It returns the one that is
// known: an update may have been faster.
func (c *Collection) Read(lt *v1beta1.LoadTest) *v1beta1.LoadTest {
	key := Key{lt.Namespace, lt.Name}
	c.mu.Lock()
	defer c.mu.Unlock()
	if newer, ok := c.whole.Get(key); ok && newer != nil {
		return newer
	}
	if c.runs[key] != nil {
		c.whole.Add(key, lt)
	}
	return lt
}

// Run is the line of a LoadTest; nil: there is none.
func (c *Collection) Run(key Key) *Run {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs[key]
}

// Runs are all LoadTests, the newest first, and whether they were listed once.
func (c *Collection) Runs() (list []*Run, loaded bool) {
	c.mu.Lock()
	list, loaded = slices.Collect(maps.Values(c.runs)), c.loaded
	c.mu.Unlock()
	slices.SortFunc(list, Newer)
	return list, loaded
}

// Schedules are all of them by namespace and name.
func (c *Collection) Schedules() []*v1beta1.LoadTestSchedule {
	c.mu.Lock()
	list := slices.Collect(maps.Values(c.schedules))
	c.mu.Unlock()
	slices.SortFunc(list, func(a, b *v1beta1.LoadTestSchedule) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Schedule is the one of a name; nil: there is none.
func (c *Collection) Schedule(key Key) *v1beta1.LoadTestSchedule {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.schedules[key]
}

// Course is what a run did from update to update, as far as it was followed.
func (c *Collection) Course(key Key) []Moment {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of, ok := c.courses.Get(key); ok {
		return slices.Clone(of.moments)
	}
	return nil
}

// Troubles are the sentences about what is not up to date.
func (c *Collection) Troubles() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for _, kind := range slices.Sorted(maps.Keys(c.troubles)) {
		list = append(list, c.troubles[kind])
	}
	return list
}

// Subscribe returns a channel that is ready when something has changed since it was last
// read. The caller ends the subscription.
func (c *Collection) Subscribe() (changed <-chan struct{}, end func()) {
	signal := make(chan struct{}, 1)
	c.mu.Lock()
	c.waiting[signal] = true
	c.mu.Unlock()
	return signal, func() {
		c.mu.Lock()
		delete(c.waiting, signal)
		c.mu.Unlock()
	}
}

// Version is another one when a LoadTest has changed, or what is known of all of them, such as a
// trouble; of nil, when anything has.
func (c *Collection) Version(about *Key) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if about == nil {
		return c.changes
	}
	return c.versions[*about] + c.versions[Key{}]
}

// change changes the collection, and says so to those who wait. The key is that of the LoadTest that
// changes; zero: it is none, or several.
func (c *Collection) change(of Key, do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	c.versions[of]++
	do()
	for signal := range c.waiting {
		select {
		case signal <- struct{}{}:
		default: // it knows that something has changed
		}
	}
}
