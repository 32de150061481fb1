package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// The keys of the Secrets of logins: the first two are those of the type kubernetes.io/basic-auth.
const (
	usernameKey     = "username"
	passwordKey     = "password"
	tokenKey        = "token"
	clientIDKey     = "client-id"
	clientSecretKey = "client-secret"
	refreshTokenKey = "refresh-token"
	// These are as those of the operator's own object store.
	accessKeyIDKey     = "accessKeyID"
	secretAccessKeyKey = "secretAccessKey"
	sessionTokenKey    = "sessionToken"
)

// authorization is the header that a login makes.
const authorization = "Authorization"

// noFile is the file of a header that a login makes: there is none of this name.
const noFile = FileDir + "/a-login-that-this-worker-does-not-know"

// loginKeys are the keys that the Secret of a login has.
func loginKeys(l *v1beta1.Login) []string {
	switch l.Type {
	case v1beta1.LoginBasic:
		return []string{usernameKey, passwordKey}
	case v1beta1.LoginBearer:
		return []string{tokenKey}
	case v1beta1.LoginRefreshToken:
		return []string{clientIDKey, clientSecretKey, refreshTokenKey}
	case v1beta1.LoginAWSSigV4:
		if ptr.Deref(l.AWS, v1beta1.AWSSignature{}).Temporary { // the schema requires it
			return []string{accessKeyIDKey, secretAccessKeyKey, sessionTokenKey}
		}
		return []string{accessKeyIDKey, secretAccessKeyKey}
	}
	return []string{clientIDKey, clientSecretKey}
}

// loginFiles are the files of a login.
func loginFiles(l *v1beta1.Login) (list []File) {
	for _, key := range loginKeys(l) {
		list = append(list, secretFile(l.SecretName, key))
	}
	return list
}

// logins are those of an assignment.
func logins(spec *v1beta1.LoadTestSpec) (list []*workerv1.Login) {
	for i := range spec.Logins {
		l := &spec.Logins[i]
		file := func(key string) string { return secretFile(l.SecretName, key).Path() }
		w := &workerv1.Login{Name: l.Name}
		switch l.Type {
		case v1beta1.LoginBasic:
			w.UsernameFile, w.PasswordFile = file(usernameKey), file(passwordKey)
		case v1beta1.LoginBearer:
			w.TokenFile = file(tokenKey)
		case v1beta1.LoginClientCredentials, v1beta1.LoginRefreshToken:
			w.Oauth2 = &workerv1.OAuth2{
				Target: int32(otherTargetNamed(spec, l.Target) + 1), Path: l.Path, Scopes: l.Scopes, Audience: l.Audience,
				ClientIdFile: file(clientIDKey), ClientSecretFile: file(clientSecretKey),
			}
			if l.Type == v1beta1.LoginRefreshToken {
				w.Oauth2.RefreshTokenFile = file(refreshTokenKey)
			}
		case v1beta1.LoginAWSSigV4:
			aws := ptr.Deref(l.AWS, v1beta1.AWSSignature{})
			w.Aws = &workerv1.AWS{
				AccessKeyIdFile: file(accessKeyIDKey), SecretAccessKeyFile: file(secretAccessKeyKey),
				Region: aws.Region, Service: aws.Service,
			}
			if aws.Temporary {
				w.Aws.SessionTokenFile = file(sessionTokenKey)
			}
		}
		list = append(list, w)
	}
	return list
}

// loginIndex is the index of the login that a target names; -1: it names none, or one that is not
// there.
func loginIndex(spec *v1beta1.LoadTestSpec, name string) int {
	return slices.IndexFunc(spec.Logins, func(l v1beta1.Login) bool { return name != "" && l.Name == name })
}

// withLogin adds the header that the login of a target makes to the headers of a request, unless
// they have one of its name.
func withLogin(spec *v1beta1.LoadTestSpec, target *v1beta1.Target, list []*workerv1.Header) []*workerv1.Header {
	i := loginIndex(spec, target.Login)
	if i < 0 || slices.ContainsFunc(list, func(h *workerv1.Header) bool { return strings.EqualFold(h.GetName(), authorization) }) {
		return list
	}
	return append(list, &workerv1.Header{Name: authorization, ValueFile: noFile, Login: int32(i + 1)})
}

// fieldTarget is a target with its field. takesCalls says that calls of gRPC go there, if there are any.
type fieldTarget struct {
	field      string
	takesCalls bool
	*v1beta1.Target
}

// allTargets are all that a spec has.
func allTargets(spec *v1beta1.LoadTestSpec) []fieldTarget {
	list := []fieldTarget{{"spec.target", true, &spec.Target}}
	for i := range spec.OtherTargets {
		other := &spec.OtherTargets[i]
		list = append(list, fieldTarget{OtherTargetField(other.Name), spec.IsControl(other.Name), other.Target()})
	}
	return list
}

// callsAny says whether any calls of gRPC are sent, the questions about health included.
func callsAny(spec *v1beta1.LoadTestSpec) bool {
	toTarget, toControl := HasCalls(spec)
	return toTarget || toControl || slices.ContainsFunc(questions(spec), func(q fieldQuestion) bool { return q.GRPCHealth != nil })
}

// checkLogins refuses a login that is not there, is not used, or cannot be carried out.
func checkLogins(spec *v1beta1.LoadTestSpec) *Refusal {
	used := make([]bool, len(spec.Logins))
	for _, t := range allTargets(spec) {
		if t.Login == "" {
			continue
		}
		i := loginIndex(spec, t.Login)
		if i < 0 {
			return invalid("%s.login: %q is not the name of one of spec.logins.", t.field, t.Login)
		}
		if hasHeader(t.Headers, authorization) {
			return invalid("%s.headers: must not have %s with login, which sends it; remove one of them.", t.field, authorization)
		}
		if spec.Logins[i].Type == v1beta1.LoginAWSSigV4 && t.takesCalls && callsAny(spec) {
			return invalid("%s.login: %s signs requests of HTTP alone, and calls of gRPC go there, too; use another login.", t.field, spec.Logins[i].Type)
		}
		used[i] = true
	}
	for i := range spec.Logins {
		if refusal := checkLogin(spec, &spec.Logins[i], fmt.Sprintf("spec.logins[%d]", i)); refusal != nil {
			return refusal
		}
		if !used[i] {
			return invalid("spec.logins[%d]: no target logs in by it; set login: %s in a target, or remove it.", i, spec.Logins[i].Name)
		}
	}
	return nil
}

func checkLogin(spec *v1beta1.LoadTestSpec, l *v1beta1.Login, field string) *Refusal {
	switch {
	case !l.ObtainsToken() && l.Target != "":
		return invalid("%s.target: must not be set for type %s, which obtains no token.", field, l.Type)
	case spec.IsControl(l.Target):
		return notToControl(field+".target", l.Target)
	case l.Target != "" && otherTargetNamed(spec, l.Target) < 0:
		return invalid("%s.target: %q is not the name of one of spec.otherTargets%s.", field, l.Target, namesOf(spec.OtherTargets))
	case l.ObtainsToken() && spec.Expose == v1beta1.ExposeResponses:
		return invalid("spec.expose: must not be Responses with a login of type %s: a target may send a token back, which must not be in a message; remove expose.", l.Type)
	}
	for i, scope := range l.Scopes {
		// RFC 6749, 3.3. A space would make two of one.
		if scope == "" || strings.ContainsFunc(scope, func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }) {
			return invalid("%s.scopes[%d]: must have printable characters of ASCII without spaces, quotes and backslashes; write each scope as an item of its own.", field, i)
		}
	}
	return nil
}
