package http2

import "encoding/binary"

// wideWindow is how much of bodies the server may send before more is granted: they are
// not kept, so that they need not be held up.
const wideWindow = 1 << 30

// credit is how much the server may send, on a stream or on the connection.
type credit struct {
	granted int32 // and not used
	used    int32 // since it was granted
}

// use uses some of it; false: there is not so much.
func (c *credit) use(n int) bool {
	if n > int(c.granted) {
		return false
	}
	c.granted -= int32(n)
	c.used += int32(n)
	return true
}

// due is what is to be granted now: nothing until half of it was used.
func (c *credit) due() uint32 {
	if c.used < wideWindow/2 {
		return 0
	}
	n := c.used
	c.granted += n
	c.used = 0
	return uint32(n)
}

// grant tells the server how much more it may send.
func (m *Mux) grant(c *credit, id uint32) {
	if n := c.due(); n > 0 {
		m.reply(frameWindow, id, n)
	}
}

// windowFrame grants more of the bodies of requests.
func (m *Mux) windowFrame(f frame, payload []byte) *violation {
	if f.length != 4 {
		return violated(frameSizeError, "WINDOW_UPDATE of %d bytes", f.length)
	}
	n := int64(binary.BigEndian.Uint32(payload) & maxID)
	if f.id == 0 {
		m.window += n
		if n == 0 || m.window > maxWindow {
			return violated(windowCode(n), "WINDOW_UPDATE of %d, for a window of %d", n, m.window-n)
		}
		m.sendBodies()
		return nil
	}
	st, v := m.stream(&f)
	if st == nil {
		return v
	}
	st.window += n
	if n == 0 || st.window > maxWindow {
		m.violate(st, violated(windowCode(n), "WINDOW_UPDATE of %d, for a window of %d", n, st.window-n))
		return nil
	}
	m.sendBody(st)
	return nil
}

func windowCode(n int64) code {
	if n == 0 {
		return protocolError
	}
	return flowControlError
}

// sendBodies sends of all bodies what the windows permit.
func (m *Mux) sendBodies() {
	for i := 0; m.blocked > 0 && i < len(m.streams); i++ {
		m.sendBody(m.streams[i])
	}
}

// sendBody sends of a body what the windows permit.
func (m *Mux) sendBody(st *Stream) {
	if len(st.body) == 0 {
		return
	}
	st.body = m.appendBody(st, st.body)
	if len(st.body) == 0 {
		st.body = nil
		m.blocked--
	}
}

// appendBody adds of a body what may be sent now, and returns the rest.
func (m *Mux) appendBody(st *Stream, body []byte) (rest []byte) {
	for len(body) > 0 {
		n := int(min(int64(len(body)), int64(m.peer.frame), m.window, st.window))
		if n <= 0 {
			break
		}
		flags := byte(0)
		if n == len(body) {
			flags = flagEndStream
		}
		m.out = appendFrame(m.out, n, frameData, flags, st.id)
		m.out = append(m.out, body[:n]...)
		m.window -= int64(n)
		st.window -= int64(n)
		body = body[n:]
		m.idle = 0
	}
	return body
}
