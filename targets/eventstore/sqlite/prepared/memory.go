package prepared

import (
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrNoMemory is what SQLite itself would say: a value that could not be bound
// breaks a transaction as a failed statement does.
var ErrNoMemory = &Error{Code: sqlite3.SQLITE_NOMEM, Message: "no memory for SQLite"}

// smallest is the size of memory that is not worth to be grown often.
const smallest = 256

// memory is a piece of memory outside of Go.
type memory struct {
	ptr  uintptr
	size int
}

// grow makes room for size bytes. What was there is lost.
func (m *memory) grow(tls *libc.TLS, size int) error {
	if size <= m.size && m.ptr != 0 {
		return nil
	}
	m.free(tls)
	size = max(size, smallest)
	p := libc.Xmalloc(tls, types.Size_t(size))
	if p == 0 {
		return ErrNoMemory
	}
	m.ptr, m.size = p, size
	return nil
}

func (m *memory) free(tls *libc.TLS) {
	if m.ptr != 0 {
		libc.Xfree(tls, m.ptr)
	}
	*m = memory{}
}

// withPointer calls f with memory for a pointer that SQLite returns.
func (c *Conn) withPointer(f func(out uintptr) error) error {
	var m memory
	if err := m.grow(c.tls, int(unsafe.Sizeof(uintptr(0)))); err != nil {
		return err
	}
	defer m.free(c.tls)
	return f(m.ptr)
}

func pointerAt(p uintptr) uintptr { return *(*uintptr)(outside(p)) }

func bytesAt(p uintptr, n int) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(outside(p)), n)
}

// outside is the pointer to memory outside of Go. The collector neither moves
// nor frees that, for which reason the address may be kept as a number; the way
// around the conversion tells vet so.
func outside(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }
