package display

import (
	"fmt"
	"io"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/loadtest-dev/loadtest-operator/text"
)

// framesPerSecond is how often the screen may change: the state does four times a second,
// and the processors are the load's.
const framesPerSecond = 10

// Terminal shows the block on a screen of its own, as long as there is something to show,
// and gives the terminal back as it was. A window that changes its size is drawn anew.
type Terminal struct {
	W io.Writer
	// Size is asked each time, because windows change: columns and rows.
	Size func() (columns, rows int)

	program *tea.Program
	ended   chan struct{}
	said    []string
}

var _ Display = (*Terminal)(nil)

// Show shows the block in the place of the last.
func (t *Terminal) Show(_ time.Time, block func(width, height int) []string, _ string) {
	t.start()
	columns, rows := t.Size()
	// The last column stays free: some terminals wrap when it is written.
	lines := block(max(columns-1, 1), max(rows-len(t.said), 1))
	for i := range lines {
		lines[i] = text.Lines(lines[i])
	}
	t.program.Send(tea.WindowSizeMsg{Width: columns, Height: rows})
	t.program.Send(page{lines: lines, said: t.said})
}

// start takes the screen, unless it is taken.
func (t *Terminal) start() {
	if t.program != nil {
		return
	}
	t.program = tea.NewProgram(page{style: styles(t.W)}, tea.WithAltScreen(), tea.WithOutput(t.W), tea.WithInput(nil),
		tea.WithoutSignalHandler(), tea.WithoutBracketedPaste(), tea.WithFPS(framesPerSecond))
	t.ended = make(chan struct{})
	go func(p *tea.Program, ended chan struct{}) {
		defer close(ended)
		_, _ = p.Run() // what can fail is the writing, and an error could be written there only
	}(t.program, t.ended)
}

// Say writes the sentence, which stays when the screen is given back.
func (t *Terminal) Say(_ time.Time, sentence string) {
	sentence = text.Lines(sentence)
	if t.program == nil {
		_, _ = fmt.Fprintln(t.W, sentence)
		return
	}
	t.said = append(t.said, sentence)
}

// Clear gives the screen back, and writes there what was said meanwhile.
func (t *Terminal) Clear() {
	if t.program == nil {
		return
	}
	t.program.Quit()
	<-t.ended
	t.program = nil
	for _, sentence := range t.said {
		_, _ = fmt.Fprintln(t.W, sentence)
	}
	t.said = nil
}

// page is what the screen shows.
type page struct {
	lines, said []string
	style       map[rune]lipgloss.Style
}

var _ tea.Model = page{}

// Init has nothing to do.
func (page) Init() tea.Cmd { return nil }

// Update takes the next page.
func (p page) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	if next, ok := m.(page); ok {
		next.style = p.style
		return next, nil
	}
	return p, nil
}

// View is the page with its colours.
func (p page) View() string {
	lines := append(append([]string(nil), p.said...), p.lines...)
	for i, line := range lines {
		for mark, style := range p.style {
			if strings.HasPrefix(line, string(mark)+" ") {
				lines[i] = style.Render(string(mark)) + strings.TrimPrefix(line, string(mark))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// styles are the colours of the marks that begin a line; none where the terminal has no
// colours, or NO_COLOR says that there should be none.
func styles(w io.Writer) map[rune]lipgloss.Style {
	renderer := lipgloss.NewRenderer(w)
	colour := func(c string) lipgloss.Style { return renderer.NewStyle().Foreground(lipgloss.Color(c)).Bold(true) }
	const red, green, yellow, cyan = "1", "2", "3", "6"
	return map[rune]lipgloss.Style{'✓': colour(green), '✗': colour(red), '?': colour(yellow), '●': colour(cyan)}
}
