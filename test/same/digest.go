package same

import (
	"hash/maphash"
	"math"
	"reflect"
	"time"
	"unsafe"
)

var seed = maphash.MakeSeed()

// Digest identifies all that values hold and point to: unexported fields, entries of maps and
// the spare capacity of slices as well. A function that leaves the digest of its arguments as
// it was has written to none of them. Digests of two processes differ.
func Digest(values ...any) uint64 {
	d := digest{above: map[uintptr]bool{}}
	sum := uint64(0)
	for i := range values {
		sum = mix(sum, d.of(reflect.ValueOf(values[i])))
	}
	return sum
}

// digest walks values. above are the pointers that lead to the present one.
type digest struct{ above map[uintptr]bool }

func (d *digest) of(v reflect.Value) uint64 {
	switch v.Kind() {
	case reflect.Invalid:
		return 0
	case reflect.Bool:
		if v.Bool() {
			return 1
		}
		return 2
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return uint64(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return v.Uint()
	case reflect.Float32, reflect.Float64:
		return math.Float64bits(v.Float())
	case reflect.String:
		return maphash.String(seed, v.String())
	case reflect.Array, reflect.Slice, reflect.Struct, reflect.Map:
		return d.ofParts(v)
	case reflect.Interface:
		return d.of(v.Elem())
	case reflect.Pointer:
		return d.ofPointer(v)
	}
	return uint64(v.Pointer()) // of a function or a channel
}

// ofPointer is the digest of what v points to. Locations of times fill caches of their own.
func (d *digest) ofPointer(v reflect.Value) uint64 {
	at := v.Pointer()
	if at == 0 || d.above[at] || v.Type() == reflect.TypeFor[*time.Location]() {
		return uint64(at)
	}
	d.above[at] = true
	defer delete(d.above, at)
	return mix(uint64(at), d.of(v.Elem()))
}

func (d *digest) ofParts(v reflect.Value) uint64 {
	sum := uint64(0)
	switch v.Kind() {
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); { // in any order
			sum += mix(d.of(entries.Key()), d.of(entries.Value()))
		}
		return mix(sum, uint64(v.Len()))
	case reflect.Struct:
		for i := range v.NumField() {
			sum = mix(sum, d.of(v.Field(i)))
		}
		return sum
	case reflect.Slice:
		sum = uint64(v.Len())
		v = v.Slice(0, v.Cap())
	}
	// A histogram has thousands of counts: its memory is read as it is.
	if v.Len() > 0 && v.Index(0).CanAddr() && isNumber(v.Type().Elem().Kind()) {
		first := v.Index(0).Addr().UnsafePointer()
		return mix(sum, maphash.Bytes(seed, unsafe.Slice((*byte)(first), v.Len()*int(v.Type().Elem().Size()))))
	}
	for i := range v.Len() {
		sum = mix(sum, d.of(v.Index(i)))
	}
	return sum
}

func isNumber(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Float64 }

// mix is a digest of two in this order.
func mix(a, b uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15 // the golden ratio, as in Fibonacci hashing
	sum := (a*odd ^ b) * odd
	return sum ^ sum>>32
}
