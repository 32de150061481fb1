package dial

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// nameserver answers questions over UDP on a loopback address, by the answers of a name:
// the first to the first question, and so on; the last again and again. An answer that is
// no address is another name.
type nameserver struct {
	net.PacketConn
	answers map[string][]string
	asked   map[string]*atomic.Int32
}

func newNameserver(t *testing.T, answers map[string][]string) *nameserver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	must.Succeed(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	s := &nameserver{conn, answers, map[string]*atomic.Int32{}}
	for name := range answers {
		s.asked[name] = &atomic.Int32{}
	}
	go s.serve()
	return s
}

// lookup resolves by the server, with Go's resolver, as in the worker's image.
func (s *nameserver) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", s.LocalAddr().String())
	}}
	return r.LookupNetIP(ctx, "ip", host)
}

func (s *nameserver) serve() {
	buffer := make([]byte, 1500)
	for {
		n, from, err := s.ReadFrom(buffer)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buffer[:n]) != nil {
			continue
		}
		m.Response, m.Authoritative, m.RecursionAvailable = true, true, true
		m.Additionals = nil
		if m.Answers = s.answer(m.Questions[0]); len(s.answers[m.Questions[0].Name.String()]) == 0 {
			m.RCode = dnsmessage.RCodeNameError
		}
		if out, err := m.Pack(); err == nil {
			_, _ = s.WriteTo(out, from)
		}
	}
}

func (s *nameserver) answer(q dnsmessage.Question) (list []dnsmessage.Resource) {
	all := s.answers[q.Name.String()]
	if len(all) == 0 {
		return nil
	}
	n := int(s.asked[q.Name.String()].Add(1)-1) / 2 // A and AAAA
	for _, text := range strings.Split(all[min(n, len(all)-1)], " ") {
		header := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 1}
		a, err := netip.ParseAddr(text)
		switch {
		case err != nil:
			to := dnsmessage.MustNewName(text)
			header.Type = dnsmessage.TypeCNAME
			list = append(list, dnsmessage.Resource{Header: header, Body: &dnsmessage.CNAMEResource{CNAME: to}})
			list = append(list, s.answer(dnsmessage.Question{Name: to, Type: q.Type, Class: q.Class})...)
		case a.Is4() && q.Type == dnsmessage.TypeA:
			header.Type = dnsmessage.TypeA
			list = append(list, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			header.Type = dnsmessage.TypeAAAA
			list = append(list, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	return list
}

var errPermitted = errors.New("permitted")

// noting is a policy that notes what it permits, and has nothing connected to.
type noting struct {
	address.Policy
	permitted []string
}

func (p *noting) Check(to netip.AddrPort) error {
	if err := p.Policy.Check(to); err != nil {
		return err
	}
	p.permitted = append(p.permitted, to.String())
	return errPermitted
}

// What a name resolves to is checked, whatever the name was allowed for, each time that it
// is connected to.
func TestNamesLeadToNoAddressThatIsNotAllowed(t *testing.T) {
	public := []address.Destination{{Port: 80}}
	tests := map[string]struct {
		answers map[string][]string
		allowed []address.Destination
		denied  []netip.Prefix
		refused string // of the last of the dials; "": permitted
		search  bool
	}{
		"public":                      {answers: map[string][]string{"a.test.": {"8.8.8.8"}}, allowed: public},
		"private":                     {answers: map[string][]string{"a.test.": {"10.0.0.1"}}, allowed: public, refused: "not among the allowed ones"},
		"rebound":                     {answers: map[string][]string{"a.test.": {"8.8.8.8", "10.96.0.1"}}, allowed: public, refused: "address 10.96.0.1 is refused"},
		"rebound to metadata":         {answers: map[string][]string{"a.test.": {"8.8.8.8", "8.8.4.4", "169.254.169.254"}}, allowed: public, refused: "a link-local address"},
		"an alias of metadata":        {answers: map[string][]string{"a.test.": {"metadata.test."}, "metadata.test.": {"169.254.169.254"}}, allowed: public, refused: "a link-local address"},
		"mapped metadata":             {answers: map[string][]string{"a.test.": {"::ffff:169.254.169.254"}}, allowed: public, refused: "a link-local address"},
		"metadata by NAT64":           {answers: map[string][]string{"a.test.": {"64:ff9b::a9fe:a9fe"}}, allowed: public, refused: "a link-local address"},
		"metadata by local NAT64":     {answers: map[string][]string{"a.test.": {"64:ff9b:1::a9fe:a9fe"}}, allowed: public, refused: "a translated address"},
		"metadata by 6to4":            {answers: map[string][]string{"a.test.": {"2002:a9fe:a9fe::1"}}, allowed: public, refused: "a translated address"},
		"metadata of EKS's pods":      {answers: map[string][]string{"a.test.": {"fd00:ec2::23"}}, allowed: public, refused: "a metadata service's address"},
		"Azure's WireServer":          {answers: map[string][]string{"a.test.": {"168.63.129.16"}}, allowed: public, refused: "a metadata service's address"},
		"a private one by NAT64":      {answers: map[string][]string{"a.test.": {"64:ff9b::a00:1"}}, allowed: public, refused: "not among the allowed ones"},
		"one of two":                  {answers: map[string][]string{"a.test.": {"127.0.0.1 127.0.0.2"}}, allowed: public, refused: "a loopback address"},
		"the API server":              {answers: map[string][]string{"a.test.": {"8.8.8.8"}}, allowed: public, denied: []netip.Prefix{netip.MustParsePrefix("8.8.8.8/32")}, refused: "the API server"},
		"a private one that is meant": {answers: map[string][]string{"a.test.": {"10.20.0.1"}}, allowed: []address.Destination{{Range: netip.MustParsePrefix("10.20.0.0/16")}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newNameserver(t, tt.answers)
			p := &noting{Policy: address.Policy{Allowed: tt.allowed, Denied: tt.denied}}
			d, err := NewDialer(Config{URL: "http://a.test", Name: "a.test.", Policy: p, Lookup: s.lookup})
			must.Succeed(t, err)
			for range tt.answers["a.test."] {
				err = d.Probe(t.Context())
				d.resolver.cached.Store(nil) // as after its life
			}
			if tt.refused == "" && !errors.Is(err, errPermitted) || tt.refused != "" && !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("the last dial: %v, want %q", err, tt.refused)
			}
			for _, to := range p.permitted {
				if a := netip.MustParseAddrPort(to).Addr(); address.SpecialKind(a) != "" || len(tt.denied) > 0 {
					t.Errorf("%s was permitted", to)
				}
			}
		})
	}
}

// An absolute name is not completed, and the Host header stays what the URL says.
func TestAnAbsoluteNameIsLookedUpAsItIs(t *testing.T) {
	var asked []string
	d, err := NewDialer(Config{URL: "https://wiki:8443", Name: "wiki.team.svc.cluster.local.", Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
		asked = append(asked, host)
		return nil, nil
	}})
	must.Succeed(t, err)
	if err := d.Probe(t.Context()); err == nil {
		t.Error("no address was connected to")
	}
	if len(asked) != 1 || asked[0] != "wiki.team.svc.cluster.local." || d.Target().Host != "wiki:8443" || d.tls.ServerName != "wiki" {
		t.Errorf("looked up %v; host %s, server name %s", asked, d.Target().Host, d.tls.ServerName)
	}
}
