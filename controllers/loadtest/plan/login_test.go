package plan_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// withLogins is a spec whose target logs in by a token of the other target, which has a login, too.
func withLogins() *v1beta1.LoadTestSpec {
	s := withIdentity()
	s.Requests = s.Requests[:1]
	s.Target.Login, s.OtherTargets[0].Login, s.OtherTargets[0].TLS = "shop", "gateway", nil
	s.Logins = []v1beta1.Login{
		{Name: "gateway", Type: v1beta1.LoginBasic, SecretName: "loadtest-gateway"},
		{Name: "shop", Type: v1beta1.LoginRefreshToken, SecretName: "loadtest-shop", Target: "identity", Path: "/token"},
	}
	return s
}

func TestRequestsHaveTheLoginOfTheirTarget(t *testing.T) {
	spec := withLogins()
	text := "Basic own"
	spec.Requests = append(spec.Requests,
		v1beta1.Request{Name: "token", Target: "identity", HTTP: &v1beta1.HTTPRequest{}},
		v1beta1.Request{Name: "own", HTTP: &v1beta1.HTTPRequest{Headers: []v1beta1.Header{{Name: "authorization", Value: &text}}}},
	)
	spec.Preflight = []v1beta1.Preflight{{HTTP: &v1beta1.Query{Path: "/version"}}}
	lt := acceptedUnder(t, policy.Rules{}, spec)
	a := plan.Assignments(lt)[0]
	login := func(r *workerv1.Request) int32 {
		last := r.GetHeaders()[len(r.GetHeaders())-1]
		if last.GetLogin() > 0 && (last.GetName() != "Authorization" || last.GetValueFile() == "") {
			t.Errorf("%v is sent by a worker that does not know logins", last)
		}
		return last.GetLogin()
	}
	same.As(t, "logins", []int32{2, 1, 0, 2}, []int32{login(a.GetRequests()[0]), login(a.GetRequests()[1]), login(a.GetRequests()[2]), login(a.GetPreflight()[0])})
	secrets := plan.FileDir + "/secrets/"
	same.As(t, "a password", secrets+"loadtest-gateway/password", a.GetLogins()[0].GetPasswordFile())
	o := a.GetLogins()[1].GetOauth2()
	same.As(t, "where tokens are issued", "1 /token "+secrets+"loadtest-shop/refresh-token", string('0'+rune(o.GetTarget()))+" "+o.GetPath()+" "+o.GetRefreshTokenFile())
	var names []string
	for _, f := range plan.Files(spec) {
		names = append(names, f.Name+"/"+f.Key)
	}
	same.As(t, "files", []string{
		"loadtest-gateway/password", "loadtest-gateway/username",
		"loadtest-shop/client-id", "loadtest-shop/client-secret", "loadtest-shop/refresh-token",
	}, names)
}

func TestLoginsAreChecked(t *testing.T) {
	if _, refusal := plan.New(loadTest(withLogins()), policy.Rules{}); refusal != nil {
		t.Fatal(refusal.Message) // a target that issues tokens alone is used
	}
	value := "x"
	tests := map[string]struct {
		change func(*v1beta1.LoadTestSpec)
		want   string
	}{
		"an unknown login": {func(s *v1beta1.LoadTestSpec) { s.Target.Login = "shopp" }, `spec.target.login: "shopp" is not the name of one of spec.logins.`},
		"a login that no target names": {func(s *v1beta1.LoadTestSpec) { s.OtherTargets[0].Login = "" },
			"spec.logins[0]: no target logs in by it; set login: gateway in a target, or remove it."},
		"two headers": {func(s *v1beta1.LoadTestSpec) {
			s.OtherTargets[0].Headers = []v1beta1.Header{{Name: "authorization", Value: &value}}
		}, "spec.otherTargets[identity].headers: must not have Authorization with login, which sends it; remove one of them."},
		"a server that is not there": {func(s *v1beta1.LoadTestSpec) {
			s.Logins[1].Target = "idp"
			s.Requests = append(s.Requests, v1beta1.Request{Name: "token", Target: "identity", HTTP: &v1beta1.HTTPRequest{}})
		}, `spec.logins[1].target: "idp" is not the name of one of spec.otherTargets: identity.`},
		"a server for no token": {func(s *v1beta1.LoadTestSpec) { s.Logins[0].Target = "identity" },
			"spec.logins[0].target: must not be set for type Basic, which obtains no token."},
		"two scopes in one": {func(s *v1beta1.LoadTestSpec) {
			s.Logins[1].Type, s.Logins[1].Scopes = v1beta1.LoginClientCredentials, []string{"read", "a b"}
		}, "spec.logins[1].scopes[1]: must have printable characters of ASCII without spaces, quotes and backslashes; write each scope as an item of its own."},
		"responses in messages": {func(s *v1beta1.LoadTestSpec) { s.Expose = v1beta1.ExposeResponses },
			"spec.expose: must not be Responses with a login of type RefreshToken: a target may send a token back, which must not be in a message; remove expose."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := withLogins()
			tt.change(spec)
			same.As(t, "refusal", tt.want, refusalOf(loadTest(spec), policy.Rules{}))
		})
	}
}

// A signature has the keys of the Secret, and that of the session if the credentials are temporary.
func TestSignaturesHaveTheirKeys(t *testing.T) {
	for temporary, want := range map[bool][]string{false: {"accessKeyID", "secretAccessKey"}, true: {"accessKeyID", "secretAccessKey", "sessionToken"}} {
		spec := withSignature()
		spec.Logins[0].AWS.Temporary = temporary
		lt := acceptedUnder(t, policy.Rules{}, spec)
		var keys []string
		for _, f := range plan.Files(spec) {
			keys = append(keys, f.Key)
		}
		same.As(t, "keys", want, keys)
		aws := plan.Assignments(lt)[0].GetLogins()[0].GetAws()
		if (aws.GetSessionTokenFile() != "") != temporary || aws.GetRegion() != "eu-central-1" || aws.GetService() != "execute-api" {
			t.Errorf("the worker signs by %v", aws)
		}
	}
}

// withSignature is a spec whose requests are signed.
func withSignature() *v1beta1.LoadTestSpec {
	s := withLogins()
	s.OtherTargets, s.Target.Login = nil, "api"
	s.Logins = []v1beta1.Login{{Name: "api", Type: v1beta1.LoginAWSSigV4, SecretName: "loadtest-aws", AWS: &v1beta1.AWSSignature{Region: "eu-central-1", Service: "execute-api"}}}
	return s
}

// Calls of gRPC are not signed: none may go where requests are.
func TestCallsAreNotSigned(t *testing.T) {
	const want = "spec.target.login: AWSSigV4 signs requests of HTTP alone, and calls of gRPC go there, too; use another login."
	for name, change := range map[string]func(*v1beta1.LoadTestSpec){
		"a request": func(s *v1beta1.LoadTestSpec) {
			s.Requests = append(s.Requests, v1beta1.Request{Name: "call", GRPC: &v1beta1.Call{Method: "a.B/C"}})
		},
		"a question": func(s *v1beta1.LoadTestSpec) {
			s.Preflight = []v1beta1.Preflight{{GRPC: &v1beta1.Call{Method: "a.B/C"}}}
		},
		"a health question": func(s *v1beta1.LoadTestSpec) { s.Preflight = []v1beta1.Preflight{{GRPCHealth: &v1beta1.GRPCHealth{}}} },
	} {
		t.Run(name, func(t *testing.T) {
			spec := withSignature()
			spec.Target.Protocol = v1beta1.ProtocolHTTP2
			change(spec)
			same.As(t, "refusal", want, refusalOf(loadTest(spec), policy.Rules{}))
		})
	}
}

// The rules about Secrets hold for the Secrets of logins.
func TestSecretsOfLoginsAreThoseThatMayBeUsed(t *testing.T) {
	spec := withLogins()
	spec.Logins[1].SecretName = "database"
	_, refusal := plan.New(loadTest(spec), policy.Rules{})
	if refusal == nil || refusal.Reason != v1beta1.ReasonWorkerNotAllowed {
		t.Errorf("refusal %v, want one of Secret database", refusal)
	}
}
