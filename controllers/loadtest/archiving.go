package loadtest

import (
	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
)

// archiving is the state of the archive of a step. An archive is stored before the status
// names it, and the write of that status may fail, so that it may take several passes:
//
//	the archive is not stored   it is created, and noted as stored
//	it is stored                the status that names it gets its sum, and is written
//	it is written               the note of it ends; the write is charged with its size
//
// An archive that cannot be stored is tried a few times, and given up: the step goes on
// without it.
type archiving struct {
	// stored may not be named by the status yet; its zero value is none.
	stored storedArchive
	// step is the one whose archive was not stored, and tries how often it was tried.
	step, tries int
	// unstored is the archive that was given up last; nil: none was.
	unstored *lifecycle.Unstored
}

// storedArchive is an archive in the store.
type storedArchive struct {
	// name is that of lifecycle.Store, configMap and sum are of what is stored.
	name, configMap, sum string
	// size is what it costs the store, in bytes.
	size int
}

// isStored says whether the archive of that name is stored, and was not written to the
// status yet.
func (a *archiving) isStored(name string) bool { return a.stored.name == name }

// sign puts the ConfigMap and the sum of what is stored into the status. Another process comes
// to the same ones: the archive of a step is the same bytes each time.
func (a *archiving) sign(s *v1beta1.LoadTestStatus) {
	for i := range s.ResultRefs {
		if ref := &s.ResultRefs[i]; ref.ConfigMap == a.stored.name {
			ref.ConfigMap, ref.SHA256 = a.stored.configMap, a.stored.sum
		}
	}
}

// failed notes that the archive of a step was not stored, and says whether it is given up:
// at once if that is permanent, else after so many tries.
func (a *archiving) failed(step int, permanent bool, tries int, why string) (givenUp bool) {
	if a.step != step {
		a.step, a.tries = step, 0
	}
	if a.tries++; !permanent && a.tries < tries {
		return false
	}
	a.giveUp(step, why)
	return true
}

func (a *archiving) giveUp(step int, why string) {
	a.unstored = &lifecycle.Unstored{Step: step, Message: why}
}

// written ends the note of what is stored, as the status names it now, and returns what it
// cost the store, in bytes.
func (a *archiving) written() (size int) {
	size = a.stored.size
	a.stored = storedArchive{}
	return size
}
