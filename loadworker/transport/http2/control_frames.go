package http2

import "encoding/binary"

// settings are those of the server that matter to a client.
type settings struct {
	streams uint32 // at once
	window  int64  // of a new stream
	frame   int    // the largest payload
}

// Numbers of settings (RFC 9113, 6.5.2).
const (
	settingTableSize  = 0x1
	settingPush       = 0x2
	settingStreams    = 0x3
	settingWindow     = 0x4
	settingFrame      = 0x5
	settingHeaderList = 0x6
)

const (
	firstWindow = 1<<16 - 1
	maxWindow   = 1<<31 - 1
	// unlimited is how many streams there may be at once if the server sets no limit.
	unlimited = 1000
)

var firstSettings = settings{streams: firstLimit, window: firstWindow, frame: maxFrame}

// settingsFrame takes settings and acknowledges them.
func (m *Mux) settingsFrame(f frame, payload []byte) *violation {
	switch {
	case f.has(flagAck) && f.length != 0:
		return violated(frameSizeError, "an acknowledgement of SETTINGS with %d bytes", f.length)
	case f.has(flagAck):
		return nil
	case f.length%6 != 0:
		return violated(frameSizeError, "SETTINGS of %d bytes", f.length)
	}
	if m.peer.streams == firstLimit && !m.heard {
		m.peer.streams = unlimited // unless it says another number now
	}
	m.heard = true
	for ; len(payload) > 0; payload = payload[6:] {
		if v := m.setting(binary.BigEndian.Uint16(payload), binary.BigEndian.Uint32(payload[2:])); v != nil {
			return v
		}
	}
	m.out = appendFrame(m.out, 0, frameSettings, flagAck, 0)
	m.replies++
	m.sendQueue()
	m.sendBodies()
	return nil
}

// setting takes one.
func (m *Mux) setting(number uint16, value uint32) *violation {
	switch number {
	case settingPush:
		if value != 0 {
			return violated(protocolError, "ENABLE_PUSH is %d", value)
		}
	case settingTableSize:
		m.table.permit(value)
	case settingStreams:
		m.peer.streams = value
	case settingFrame:
		if value < maxFrame || value > 1<<24-1 {
			return violated(protocolError, "MAX_FRAME_SIZE is %d", value)
		}
		m.peer.frame = int(value)
	case settingWindow:
		return m.changeWindows(value)
	}
	return nil
}

// changeWindows changes the window of all streams. It may become negative.
func (m *Mux) changeWindows(value uint32) *violation {
	if value > maxWindow {
		return violated(flowControlError, "INITIAL_WINDOW_SIZE is %d", value)
	}
	change := int64(value) - m.peer.window
	m.peer.window = int64(value)
	for _, st := range m.streams {
		if st.window += change; st.window > maxWindow {
			return violated(flowControlError, "INITIAL_WINDOW_SIZE makes the window of stream %d exceed 2^31-1", st.id)
		}
	}
	return nil
}

// ping answers a PING.
func (m *Mux) ping(f frame, payload []byte) *violation {
	if f.length != 8 {
		return violated(frameSizeError, "PING of %d bytes", f.length)
	}
	if !f.has(flagAck) {
		m.out = appendFrame(m.out, len(payload), framePing, flagAck, 0)
		m.out = append(m.out, payload...)
		m.replies++
	}
	return nil
}

// goAwayFrame ends the requests that the server has not processed, and will not.
func (m *Mux) goAwayFrame(payload []byte) *violation {
	if len(payload) < 8 {
		return violated(frameSizeError, "GOAWAY of %d bytes", len(payload))
	}
	last := binary.BigEndian.Uint32(payload) & maxID
	if m.goAway && last > m.last {
		return violated(protocolError, "GOAWAY at stream %d, after one at %d", last, m.last)
	}
	m.goAway, m.last, m.code = true, last, code(binary.BigEndian.Uint32(payload[4:]))
	m.refuse()
	return nil
}

// resetFrame ends a stream.
func (m *Mux) resetFrame(f frame, payload []byte) *violation {
	if f.length != 4 {
		return violated(frameSizeError, "RST_STREAM of %d bytes", f.length)
	}
	st, v := m.stream(&f)
	if st != nil {
		m.end(st, resetBy(code(binary.BigEndian.Uint32(payload))))
	}
	return v
}

// reply adds a frame with a number to what is to be written.
func (m *Mux) reply(kind frameType, id, value uint32) {
	m.out = appendFrame(m.out, 4, kind, 0, id)
	m.out = binary.BigEndian.AppendUint32(m.out, value)
}
