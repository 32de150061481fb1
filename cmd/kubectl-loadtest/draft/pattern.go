package draft

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	// maxBelow is how many different segments are told apart below one path; of more, those
	// that are less than a maxBelow-th of its requests become one.
	maxBelow = 40
	// rare is the number of requests below which one of those segments is not told apart in the end.
	rare = 10
	// maxDepth is how many segments of a path are told apart, and maxSegment their longest.
	maxDepth, maxSegment = 12, 64
	// maxNodes bounds the tree of paths: of more, the rarest are dropped.
	maxNodes = 4000
	// maxExample is the longest path of which an example is kept.
	maxExample = 2048
)

// Placeholders stand for segments that differ from request to request.
const (
	anyText = "{text}"
	rest    = "{rest}"
)

// patterns counts requests by method and pattern of the path, in bounded memory: a tree of the
// segments of paths, in which segments that are numbers, identifiers or very many are one.
type patterns struct {
	root  node
	nodes int
}

type node struct {
	count  int64
	below  map[string]*node
	leaves map[string]*leaf // by method
	// full says that a segment that is new becomes {text}.
	full bool
}

// leaf is what was asked by one method.
type leaf struct {
	count int64
	// path and status are of an example: the first with a status of 2xx, or else the first.
	path   string
	status int
}

func isSuccess(status int) bool { return status >= 200 && status < 300 }

// add counts a request.
func (p *patterns) add(method, path string, status int) {
	n := &p.root
	n.count++
	segments := strings.SplitN(strings.TrimPrefix(pathOnly(path), "/"), "/", maxDepth+1)
	for i, segment := range segments {
		key := rest
		if i < maxDepth {
			key = masked(segment)
		}
		n = p.child(n, key)
		n.count++
	}
	l := n.leaves[method]
	if l == nil {
		l = &leaf{}
		if n.leaves == nil {
			n.leaves = map[string]*leaf{}
		}
		n.leaves[method] = l
	}
	l.count++
	if len(path) <= maxExample && (l.path == "" || isSuccess(status) && !isSuccess(l.status)) {
		l.path, l.status = path, status
	}
	for least := int64(2); p.nodes > maxNodes; least *= 2 {
		p.prune(&p.root, least)
	}
}

// child is the node of a segment. What is too diverse becomes {text}.
func (p *patterns) child(n *node, key string) *node {
	if c := n.below[key]; c != nil {
		return c
	}
	if !n.full && len(n.below) >= maxBelow {
		n.full = true
		p.gather(n, 0)
	}
	if n.full {
		key = anyText
		if c := n.below[key]; c != nil {
			return c
		}
	}
	if n.below == nil {
		n.below = map[string]*node{}
	}
	c := &node{}
	n.below[strings.Clone(key)] = c
	p.nodes++
	return c
}

// gather makes {text} of the segments that have too few of the requests, or fewer than the least.
func (p *patterns) gather(n *node, least int64) {
	for _, key := range slices.Sorted(maps.Keys(n.below)) {
		c := n.below[key]
		if key == anyText || c.count*maxBelow >= n.count && c.count >= least {
			continue
		}
		delete(n.below, key)
		if into := n.below[anyText]; into != nil {
			p.nodes--
			p.merge(into, c)
		} else {
			n.below[anyText] = c
		}
	}
}

// merge adds what a node has to another.
func (p *patterns) merge(into, from *node) {
	into.count += from.count
	into.full = into.full || from.full
	for method, l := range from.leaves {
		switch have := into.leaves[method]; {
		case have == nil && into.leaves == nil:
			into.leaves = map[string]*leaf{method: l}
		case have == nil:
			into.leaves[method] = l
		default:
			have.count += l.count
			if have.path == "" || isSuccess(l.status) && !isSuccess(have.status) {
				have.path, have.status = l.path, l.status
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(from.below)) {
		c := from.below[key]
		switch have := into.below[key]; {
		case have == nil && into.below == nil:
			into.below = map[string]*node{key: c}
		case have == nil:
			into.below[key] = c
		default:
			p.nodes--
			p.merge(have, c)
		}
	}
	if len(into.below) > maxBelow {
		into.full = true
		p.gather(into, 0)
	}
}

// prune drops the nodes with fewer requests than the least, and returns how many those have.
func (p *patterns) prune(n *node, least int64) (dropped int64) {
	for key, c := range n.below {
		if c.count < least {
			dropped += c.count
			p.nodes -= c.size()
			delete(n.below, key)
			continue
		}
		dropped += p.prune(c, least)
	}
	n.count -= dropped
	return dropped
}

func (n *node) size() int {
	sum := 1
	for _, c := range n.below {
		sum += c.size()
	}
	return sum
}

// pattern is a pattern of paths, by one method.
type pattern struct {
	method, path string
	leaf
}

func (p *pattern) name() string { return p.method + " " + p.path }

// all are the patterns, the most frequent first.
func (p *patterns) all() (list []pattern) {
	var look func(n *node, path string)
	look = func(n *node, path string) {
		if n.full {
			p.gather(n, rare)
		}
		for method, l := range n.leaves {
			list = append(list, pattern{method, path, *l})
		}
		for key, c := range n.below {
			look(c, path+"/"+key)
		}
	}
	look(&p.root, "")
	slices.SortFunc(list, func(a, b pattern) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.path, b.path), cmp.Compare(a.method, b.method))
	})
	return list
}

var (
	uuid   = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	date   = regexp.MustCompile(`^[12][0-9]{3}-[01][0-9]-[0-3][0-9]$`)
	digits = regexp.MustCompile(`^-?[0-9]+$`)
	hex    = regexp.MustCompile(`^[0-9a-fA-F]{8,}$`)
)

// masked is what a segment is in a pattern: itself, with a placeholder for each part that is a
// number or an identifier.
func masked(segment string) string {
	if len(segment) > maxSegment || bearer.MatchString(segment) {
		return anyText
	}
	if !strings.ContainsAny(segment, "0123456789") {
		return segment
	}
	parts := strings.Split(segment, ".") // app.3f2a1b9c.js
	for i, part := range parts {
		switch {
		case digits.MatchString(part):
			parts[i] = "{number}"
		case uuid.MatchString(part):
			parts[i] = "{uuid}"
		case date.MatchString(part):
			parts[i] = "{date}"
		case hex.MatchString(part):
			parts[i] = "{hex}"
		case isToken(part):
			parts[i] = anyText
		}
	}
	return strings.Join(parts, ".")
}

// isToken says whether a text looks random: long, with digits among both kinds of letters.
func isToken(text string) bool {
	const long = 20
	return len(text) >= long && strings.ContainsAny(text, "0123456789") && strings.ToLower(text) != text && strings.ToUpper(text) != text && !strings.Contains(text, "%")
}
