package page

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const source = "# The *title*, `a/b`\n\nSee [one\nthing](other.md#x) and ![a picture](a.png).\n\n" +
	"## What is it?\n\n```yaml file=a.yaml\nkind: LoadTest\n```\n\n## What is it?\n\n| a | b |\n| --- | --- |\n| [in a table](t.md) | `[no](link)` |\n"

func TestPagesAreReadWithHeadingsLinksAndBlocks(t *testing.T) {
	want := Page{
		Headings: []Heading{{1, "The title, a/b", "the-title-ab"}, {2, "What is it?", "what-is-it"}, {2, "What is it?", "what-is-it-1"}},
		Links: []Link{
			{"one thing", "other.md#x", "The title, a/b"}, {"a picture", "a.png", "The title, a/b"}, {"in a table", "t.md", "What is it?"},
		},
		Blocks: []Block{{"yaml", "yaml file=a.yaml", "kind: LoadTest\n", "What is it?", 9}},
	}
	got := Parse([]byte(source))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Title() != "The title, a/b" || !got.HasAnchor("what-is-it-1") || got.HasAnchor("what-is-it-2") {
		t.Errorf("title %q, anchors %v", got.Title(), got.Headings)
	}
}
