package selector

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// The bounds of a selector, in bytes and in elements, and of a page.
const (
	MaxLength   = 256
	maxElements = 8
	maxDepth    = 512
	// MaxText is how much of the text of an element is returned, in bytes.
	MaxText = 4097
)

// Selector is a compiled one. It is safe for concurrent use.
type Selector struct {
	elements []element
}

// element is a part of a selector between spaces.
type element struct {
	match cascadia.Sel
	child bool // of the one before, else at any depth in it
}

// Compile compiles a selector. Its error says what is wrong, and what to do about it.
func Compile(text string) (*Selector, error) {
	if len(text) > MaxLength {
		return nil, fmt.Errorf("has %d bytes, at most %d are accepted", len(text), MaxLength)
	}
	parts, err := split(text)
	if err != nil {
		return nil, err
	}
	s := &Selector{}
	for i, part := range parts {
		if part == ">" {
			if i == 0 || i == len(parts)-1 || parts[i-1] == ">" {
				return nil, errors.New("has a > without an element on each side")
			}
			continue
		}
		match, err := cascadia.Parse(part)
		if err != nil {
			return nil, err
		}
		s.elements = append(s.elements, element{match: match, child: i > 0 && parts[i-1] == ">"})
	}
	if n := len(s.elements); n == 0 || n > maxElements {
		return nil, fmt.Errorf("has %d elements, from 1 to %d are accepted", n, maxElements)
	}
	return s, nil
}

// split are the elements of a selector, and each > between them. It refuses what needs a tree, and the regular
// expressions that cascadia has in attributes.
func split(text string) (parts []string, err error) {
	var part strings.Builder
	end := func() {
		if part.Len() > 0 {
			parts = append(parts, part.String())
			part.Reset()
		}
	}
	var at place
	for _, r := range text {
		switch plain := at.isPlain(r); {
		case r == '#' && at.inAttribute && at.quote == 0:
			return nil, errors.New("has an attribute with #=, which is none of CSS; capture a part with match")
		case !plain:
			part.WriteRune(r)
		case r == ' ' || r == '\t' || r == '\n':
			end()
		case r == '>':
			end()
			parts = append(parts, ">")
		case strings.ContainsRune(":,+~", r):
			return nil, fmt.Errorf("has %q: elements are named by tag, #id, .class and [attribute], in others by a space or >", r)
		default:
			part.WriteRune(r)
		}
	}
	end()
	return parts, nil
}

// place is where in a selector a character is.
type place struct {
	quote                rune // of the text that it is in; 0: none
	inAttribute, escaped bool
}

// isPlain says whether a character is outside of attributes, and not escaped. The next one is behind it.
func (p *place) isPlain(r rune) bool {
	switch {
	case p.escaped:
		p.escaped = false
		return false
	case r == '\\':
		p.escaped = true
		return false
	case p.quote != 0:
		if r == p.quote {
			p.quote = 0
		}
		return false
	case !p.inAttribute:
		p.inAttribute = r == '['
		return !p.inAttribute
	case r == '"' || r == '\'':
		p.quote = r
	case r == ']':
		p.inAttribute = false
	}
	return false
}

// What a page does not have.
var (
	ErrNone      = errors.New("no element matches the selector")
	ErrAttribute = errors.New("the element has no such attribute")
	ErrTooDeep   = fmt.Errorf("elements are nested deeper than %d", maxDepth)
)

// Find returns an attribute of the first element that matches, or without a name the element's text,
// without spaces around it. Of a long text it returns MaxText bytes.
func (s *Selector) Find(page []byte, attribute string) (string, error) {
	p := reading{selector: s, tokens: html.NewTokenizer(bytes.NewReader(page)), count: map[string]int{}, attribute: strings.ToLower(attribute)}
	return p.find()
}

// open is an element that has not ended.
type open struct {
	name string
	// self has a bit for each part of the selector that ends at this element, with the parts before it; around also the parts of
	// the elements that this one is in.
	self, around uint
	// drawn says that it is in a drawing or a formula, or one.
	drawn bool
}

// reading is a page that is being read.
type reading struct {
	selector  *Selector
	attribute string
	tokens    *html.Tokenizer
	stack     []open
	count     map[string]int // of the open elements, by name
	text      []byte         // of the element that matches
	found     int            // how many elements are open with it; 0: none matches so far
}

func (p *reading) find() (string, error) {
	for {
		switch p.tokens.Next() {
		case html.ErrorToken: // the end: there is no error of a page
			if p.found > 0 {
				return p.foundText(), nil
			}
			return "", ErrNone
		case html.TextToken:
			if p.found > 0 {
				p.text = append(p.text, p.tokens.Text()...)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			if value, done, err := p.start(); done || err != nil {
				return value, err
			}
		case html.EndTagToken:
			name, _ := p.tokens.TagName()
			p.end(string(name))
		}
		if p.found > 0 && (len(p.stack) < p.found || len(p.text) > 2*MaxText) {
			return p.foundText(), nil
		}
	}
}

// foundText is the text of the element that matches.
func (p *reading) foundText() string {
	text := strings.TrimSpace(string(p.text))
	return text[:min(len(text), MaxText)]
}

// start begins an element. done says that value is the one that is looked for.
func (p *reading) start() (value string, done bool, err error) {
	t := p.tokens.Token()
	if p.found == 0 {
		o, matches := p.matching(&t)
		if matches && p.attribute != "" {
			value, err = attributeOf(&t, p.attribute)
			return value, true, err
		}
		if p.isEmpty(&t) {
			return "", matches, nil
		}
		p.push(o)
		if matches {
			p.found = len(p.stack)
		}
	} else if !p.isEmpty(&t) {
		p.push(open{name: t.Data})
	}
	if len(p.stack) > maxDepth {
		return "", true, ErrTooDeep
	}
	return "", false, nil
}

func (p *reading) push(o open) {
	o.drawn = o.name == "svg" || o.name == "math" || p.isDrawn() && o.name != "foreignobject"
	p.stack = append(p.stack, o)
	p.count[o.name]++
}

// matching is an element with the parts of the selector that end at it. matches says that the last does.
func (p *reading) matching(t *html.Token) (o open, matches bool) {
	var parent open
	if n := len(p.stack); n > 0 {
		parent = p.stack[n-1]
	}
	node := html.Node{Type: html.ElementNode, Data: t.Data, DataAtom: t.DataAtom, Attr: t.Attr}
	o = open{name: t.Data, around: parent.around}
	for i, e := range p.selector.elements {
		before := parent.around
		if e.child {
			before = parent.self
		}
		if (i == 0 || before>>(i-1)&1 == 1) && e.match.Match(&node) {
			o.self |= 1 << i
		}
	}
	o.around |= o.self
	return o, o.self>>(len(p.selector.elements)-1)&1 == 1
}

// end ends the element of a name that began last, and those in it.
func (p *reading) end(name string) {
	if p.count[name] == 0 {
		return
	}
	for {
		last := len(p.stack) - 1
		ended := p.stack[last].name
		p.stack = p.stack[:last]
		p.count[ended]--
		if ended == name {
			return
		}
	}
}

func attributeOf(t *html.Token, name string) (string, error) {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val, nil
		}
	}
	return "", ErrAttribute
}

// isEmpty says whether an element ends with its tag: by its name or, in a drawing or a formula alone, by a slash, as HTML
// has it.
func (p *reading) isEmpty(t *html.Token) bool {
	return isVoid(t.Data) || t.Type == html.SelfClosingTagToken && (t.Data == "svg" || t.Data == "math" || p.isDrawn())
}

// isDrawn says whether what comes is in a drawing or a formula.
func (p *reading) isDrawn() bool {
	n := len(p.stack)
	return n > 0 && p.stack[n-1].drawn
}

// void are the elements that have no end tag, by HTML.
var void = []string{"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}

func isVoid(name string) bool { return slices.Contains(void, name) }
