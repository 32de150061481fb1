package build

import (
	"bytes"
	"sync"
	"time"
)

// interval between two reports. Linking compiles no package for half a minute,
// and only the time that passes shows that the build is alive.
const interval = 3 * time.Second

// meter counts the packages that go build -v names, one per line, and reports
// now and then.
type meter struct {
	total  int
	report func(Progress)
	begun  time.Time

	mu   sync.Mutex
	done int

	quit    chan struct{}
	stopped sync.WaitGroup
}

func newMeter(total int, report func(Progress)) *meter {
	m := &meter{total: total, report: report, begun: time.Now(), quit: make(chan struct{})}
	if report != nil {
		m.stopped.Go(m.loop)
	}
	return m
}

func (m *meter) loop() {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-m.quit:
			return
		case <-ticker.C:
			m.report(m.progress(false))
		}
	}
}

// progress never shows more done than there is: Go may name a package that the
// count, taken before, held for up to date.
func (m *meter) progress(ended bool) Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Progress{Done: min(m.done, m.total), Total: m.total, Elapsed: time.Since(m.begun), Ended: ended}
}

func (m *meter) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done += bytes.Count(p, []byte("\n"))
	return len(p), nil
}

// stop ends the reports, with a last one if the build has succeeded.
func (m *meter) stop(succeeded bool) {
	close(m.quit)
	m.stopped.Wait()
	if succeeded && m.report != nil {
		m.report(m.progress(true))
	}
}
