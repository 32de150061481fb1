package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// patience is how long a page may take to show what is waited for, on a machine whose processors others have.
const patience = time.Minute

// Browser is a Chromium that runs until its test ends.
type Browser struct {
	commands io.Writer

	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	// errors are what the consoles of the pages say is wrong: a policy that was broken, a
	// script that threw.
	errors []string
	// missing are what could not be fetched for them, and why.
	missing []string
	// ended is closed when the browser has.
	ended chan struct{}
}

// message is a command, an answer or an event of the protocol.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// Start starts a browser.
func Start(t *testing.T) *Browser {
	t.Helper()
	toBrowser, commands, err := os.Pipe()
	check(t, err)
	answers, fromBrowser, err := os.Pipe()
	check(t, err)
	command := exec.CommandContext(t.Context(), find(t), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	command.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	check(t, command.Start())
	check(t, errors.Join(toBrowser.Close(), fromBrowser.Close()))
	b := &Browser{commands: commands, waiting: map[int]chan message{}, ended: make(chan struct{})}
	go b.read(answers)
	t.Cleanup(func() {
		_ = b.call("", "Browser.close", nil, nil)
		_ = commands.Close()
		<-b.ended
		_ = command.Wait() // its context has ended it
		_ = answers.Close()
	})
	return b
}

// find is the program of the browser.
func find(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no Chromium is installed: run make deps, or apt-get install chromium-headless-shell")
	return ""
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// read takes answers and events until the browser ends. Each is ended by a zero byte.
func (b *Browser) read(answers io.Reader) {
	defer close(b.ended)
	for reader := bufio.NewReader(answers); ; {
		data, err := reader.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(data[:len(data)-1], &m) == nil {
			b.take(m)
		}
	}
}

func (b *Browser) take(m message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if answer := b.waiting[m.ID]; answer != nil {
		delete(b.waiting, m.ID)
		answer <- m
		return
	}
	switch m.Method {
	case "Log.entryAdded":
		var e struct {
			Entry struct{ Level, Source, Text, URL string }
		}
		if json.Unmarshal(m.Params, &e) != nil || e.Entry.Level != "error" {
			return
		}
		list := &b.errors
		if e.Entry.Source == "network" {
			list = &b.missing
		}
		*list = append(*list, e.Entry.Text+" "+e.Entry.URL)
	case "Runtime.exceptionThrown":
		b.errors = append(b.errors, string(m.Params))
	}
}

// Errors are what the consoles said is wrong.
func (b *Browser) Errors() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.errors...)
}

func (b *Browser) call(session, method string, params, result any) error {
	encoded, err := json.Marshal(params)
	if err != nil {
		return err
	}
	answer := make(chan message, 1)
	b.mu.Lock()
	b.last++
	m := message{ID: b.last, Session: session, Method: method}
	if params != nil {
		m.Params = encoded
	}
	b.waiting[m.ID] = answer
	data, err := json.Marshal(m)
	if err == nil {
		_, err = b.commands.Write(append(data, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case got := <-answer:
		if got.Error != nil {
			return fmt.Errorf("%s: %s", method, got.Error.Message)
		}
		if result != nil {
			return json.Unmarshal(got.Result, result)
		}
		return nil
	case <-b.ended:
		return fmt.Errorf("%s: the browser has ended", method)
	}
}

// object is the parameters of a command.
type object map[string]any

// Tab is a page of the browser.
type Tab struct {
	browser *Browser
	session string
}

// Open opens a page in a new tab, of 1100 pixels and in light colours.
func (b *Browser) Open(t *testing.T, url string) *Tab {
	t.Helper()
	var target struct{ TargetID string }
	check(t, b.call("", "Target.createTarget", object{"url": "about:blank"}, &target))
	var attached struct{ SessionID string }
	check(t, b.call("", "Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &attached))
	tab := &Tab{b, attached.SessionID}
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		tab.do(t, domain+".enable", nil)
	}
	tab.Look(t, 1100, 900, "light")
	tab.Go(t, url)
	return tab
}

func (tab *Tab) do(t *testing.T, method string, params any) {
	t.Helper()
	check(t, tab.browser.call(tab.session, method, params, nil))
}

// Go opens another page in the tab.
func (tab *Tab) Go(t *testing.T, url string) {
	t.Helper()
	tab.Eval(t, "window.left = true", nil)
	tab.do(t, "Page.navigate", object{"url": url})
	tab.Await(t, `!window.left && document.readyState === "complete"`)
}

// Look sets the size of the page, and "light" or "dark".
func (tab *Tab) Look(t *testing.T, width, height int, scheme string) {
	t.Helper()
	tab.do(t, "Emulation.setDeviceMetricsOverride", object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
	tab.do(t, "Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": scheme}}})
}

// Scripts permits the scripts of pages that are loaded from now on, or forbids them.
func (tab *Tab) Scripts(t *testing.T, permitted bool) {
	t.Helper()
	tab.do(t, "Emulation.setScriptExecutionDisabled", object{"value": !permitted})
}

// Eval sets into, unless it is nil, to the value of an expression.
func (tab *Tab) Eval(t *testing.T, expression string, into any) {
	t.Helper()
	if err := tab.eval(expression, into); err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
}

func (tab *Tab) eval(expression string, into any) error {
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	params := object{"expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true}
	if err := tab.browser.call(tab.session, "Runtime.evaluate", params, &answer); err != nil {
		return err
	}
	if e := answer.ExceptionDetails; e != nil {
		return fmt.Errorf("%s %s", e.Text, e.Exception.Description)
	}
	if into == nil || answer.Result.Value == nil {
		return nil
	}
	return json.Unmarshal(answer.Result.Value, into)
}

// Await waits until an expression is true, also on the next page.
func (tab *Tab) Await(t *testing.T, expression string) {
	t.Helper()
	if !tab.Becomes(expression) {
		var text string
		_ = tab.eval("document.title + '\\n' + document.body.innerText.slice(0, 3000)", &text)
		tab.browser.mu.Lock()
		defer tab.browser.mu.Unlock()
		t.Fatalf("%s did not become true in %v; not fetched: %q; the page:\n%s", expression, patience, tab.browser.missing, text)
	}
}

// Becomes says whether an expression became true in time.
func (tab *Tab) Becomes(expression string) bool {
	// The page is asked again and again: a promise in it would need a script of its own.
	const again = 25 * time.Millisecond
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(again) {
		var is bool
		if err := tab.eval("(() => { try { return !!("+expression+") } catch (e) { return false } })()", &is); err == nil && is {
			return true
		}
	}
	return false
}

// Click clicks the element of a selector, as a person would by the keyboard.
func (tab *Tab) Click(t *testing.T, selector string) {
	t.Helper()
	tab.Eval(t, fmt.Sprintf("document.querySelector(%q).click()", selector), nil)
}

// Point moves the mouse to a part of the element of a selector: from 0 to 1 of its width and height.
func (tab *Tab) Point(t *testing.T, selector string, x, y float64) {
	t.Helper()
	var box struct{ X, Y, Width, Height float64 }
	tab.Eval(t, fmt.Sprintf("(async e => { e.scrollIntoView({block: 'center'}); await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r))); const r = e.getBoundingClientRect(); return {x: r.x, y: r.y, width: r.width, height: r.height} })(document.querySelector(%q))", selector), &box)
	tab.do(t, "Input.dispatchMouseEvent", object{"type": "mouseMoved", "x": box.X + x*box.Width, "y": box.Y + y*box.Height})
}

// Drag draws the mouse with its button pressed over the element of a selector, from one part of its
// width to another, in the middle of its height.
func (tab *Tab) Drag(t *testing.T, selector string, from, to float64) {
	t.Helper()
	tab.Point(t, selector, from, 0.5)
	var box struct{ X, Y, Width, Height float64 }
	tab.Eval(t, fmt.Sprintf("(r => ({x: r.x, y: r.y, width: r.width, height: r.height}))(document.querySelector(%q).getBoundingClientRect())", selector), &box)
	for _, event := range []struct {
		kind string
		at   float64
	}{{"mousePressed", from}, {"mouseMoved", (from + to) / 2}, {"mouseMoved", to}, {"mouseReleased", to}} {
		tab.do(t, "Input.dispatchMouseEvent", object{"type": event.kind, "x": box.X + event.at*box.Width, "y": box.Y + box.Height/2, "button": "left", "buttons": 1, "clickCount": 1})
	}
}

// Press presses a key: "Tab", "Enter".
func (tab *Tab) Press(t *testing.T, key string) {
	t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13}
	text := map[string]string{"Enter": "\r"}[key]
	for _, kind := range []string{"keyDown", "keyUp"} {
		tab.do(t, "Input.dispatchKeyEvent", object{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": codes[key], "text": text})
	}
}

// Picture writes a picture of the whole page, of at most so many pixels in height.
func (tab *Tab) Picture(t *testing.T, file string, most int) {
	t.Helper()
	var size struct{ Width, Height int }
	tab.Eval(t, "({width: document.documentElement.clientWidth, height: document.documentElement.scrollHeight})", &size)
	var shot struct{ Data string }
	check(t, tab.browser.call(tab.session, "Page.captureScreenshot", object{
		"format": "png", "captureBeyondViewport": true, "clip": object{"x": 0, "y": 0, "width": size.Width, "height": min(size.Height, most), "scale": 1},
	}, &shot))
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	check(t, err)
	check(t, os.WriteFile(file, data, 0o600))
}
