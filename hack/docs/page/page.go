package page

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Page is a page of Markdown.
type Page struct {
	Headings []Heading
	Links    []Link
	Blocks   []Block
}

// Heading is a heading with the anchor that GitHub gives it.
type Heading struct {
	Level  int
	Text   string
	Anchor string
}

// Link is a link or an image.
type Link struct {
	Text, Destination string
	// Section is the heading above it; empty above the first.
	Section string
}

// Block is a fenced block of code.
type Block struct {
	// Language is the first word after the fence, and Info all of it.
	Language, Info, Text string
	// Section is the heading above it; empty above the first.
	Section string
	// Line is that of its first line of code.
	Line int
}

// markdown is what pages are written in: CommonMark with tables.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// Parse reads a page.
func Parse(source []byte) Page {
	var p Page
	section := ""
	walk := func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			id, _ := n.AttributeString("id")
			anchor, _ := id.([]byte)
			section = plain(n, source)
			p.Headings = append(p.Headings, Heading{n.Level, section, string(anchor)})
		case *ast.Link:
			p.Links = append(p.Links, Link{plain(n, source), string(n.Destination), section})
		case *ast.Image:
			p.Links = append(p.Links, Link{plain(n, source), string(n.Destination), section})
		case *ast.FencedCodeBlock:
			p.Blocks = append(p.Blocks, block(n, source, section))
		}
		return ast.WalkContinue, nil
	}
	context := parser.NewContext(parser.WithIDs(&anchors{taken: map[string]bool{}}))
	tree := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(context))
	_ = ast.Walk(tree, walk) // walk returns no error
	return p
}

// Title is the first heading.
func (p *Page) Title() string {
	if len(p.Headings) == 0 {
		return ""
	}
	return p.Headings[0].Text
}

// HasAnchor says whether a link may end with #anchor.
func (p *Page) HasAnchor(anchor string) bool {
	for _, h := range p.Headings {
		if h.Anchor == anchor {
			return true
		}
	}
	return false
}

func block(n *ast.FencedCodeBlock, source []byte, section string) Block {
	b := Block{Language: string(n.Language(source)), Section: section}
	if n.Info != nil {
		b.Info = string(n.Info.Segment.Value(source))
	}
	lines := n.Lines()
	b.Text = string(lines.Value(source))
	if lines.Len() > 0 {
		b.Line = 1 + bytes.Count(source[:lines.At(0).Start], []byte("\n"))
	}
	return b
}

// plain is the text of a node without its markup.
func plain(n ast.Node, source []byte) string {
	var out strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			out.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				out.WriteByte(' ')
			}
			continue
		}
		out.WriteString(plain(c, source))
	}
	return out.String()
}
