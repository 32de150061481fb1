package wire

// HdrHistogram's integers: zig-zag, 7 bits to a byte, least first, the top bit
// saying that more follow; but a ninth byte has 8 bits and is the last.
const lastByte = 8

// readVarint returns the first integer of b and its length, 0 if b ends before
// it does.
func readVarint(b []byte) (v int64, n int) {
	// Nearly all counts are below 64; this much the compiler inlines.
	if len(b) > 0 && b[0] < 0x80 {
		return unZigZag(uint64(b[0])), 1
	}
	return readLongVarint(b)
}

func readLongVarint(b []byte) (v int64, n int) {
	var u uint64
	for i, c := range b {
		if i == lastByte {
			u |= uint64(c) << (7 * lastByte)
			return unZigZag(u), i + 1
		}
		u |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return unZigZag(u), i + 1
		}
	}
	return 0, 0
}

func unZigZag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

func appendVarint(b []byte, v int64) []byte {
	u := uint64(v<<1) ^ uint64(v>>63)
	for i := 0; i < lastByte && u >= 0x80; i++ {
		b = append(b, byte(u)|0x80)
		u >>= 7
	}
	return append(b, byte(u))
}
