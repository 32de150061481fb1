package v1beta1

// Login is how requests log in that have no header Authorization of their own.
//
// +kubebuilder:validation:XValidation:rule="has(self.path) == (self.type in ['ClientCredentials', 'RefreshToken'])",message="path must be set for ClientCredentials and RefreshToken alone"
// +kubebuilder:validation:XValidation:rule="has(self.aws) == (self.type == 'AWSSigV4')",message="aws must be set for AWSSigV4 alone"
// +kubebuilder:validation:XValidation:rule="self.type == 'ClientCredentials' || !has(self.scopes) && !has(self.audience)",message="scopes and audience must not be set unless type is ClientCredentials"
type Login struct {
	// name is what targets call it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=24
	Name string `json:"name"`

	// type is how to log in.
	// +required
	Type LoginType `json:"type"`

	// secretName is a Secret of the LoadTest's namespace.
	// +required
	SecretName ObjectName `json:"secretName"`

	// target is one of spec.otherTargets, which issues the token. Absent: spec.target does.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	Target string `json:"target,omitempty"`

	// path is where the token is issued. Example: /oauth/token.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^/[!"$-~]*$`
	Path string `json:"path,omitempty"`

	// scopes are asked for. Absent: none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=128
	Scopes []string `json:"scopes,omitempty"`

	// audience is what the token is for. Absent: not said.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Audience string `json:"audience,omitempty"`

	// aws is what requests are signed for.
	// +optional
	AWS *AWSSignature `json:"aws,omitempty"`
}

// AWSSignature is what a signature is valid for.
type AWSSignature struct {
	// region is the region of the service. Example: eu-central-1.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9-]+$`
	Region string `json:"region"`

	// service is the name that the service has in signatures. Example: execute-api.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9-]+$`
	Service string `json:"service"`

	// temporary says that the credentials end by themselves: the Secret has the key sessionToken,
	// too. They have to be good for the whole run. Default false.
	// +optional
	Temporary bool `json:"temporary,omitempty"`
}

// LoginType is how to log in.
//
// +kubebuilder:validation:Enum=Basic;Bearer;ClientCredentials;RefreshToken;AWSSigV4
type LoginType string

const (
	// LoginBasic sends the name and the password of the keys username and password, which a
	// Secret of type kubernetes.io/basic-auth has.
	LoginBasic LoginType = "Basic"
	// LoginBearer sends the token of the key token.
	LoginBearer LoginType = "Bearer"
	// LoginClientCredentials sends a token that each worker obtains as the client of the keys
	// client-id and client-secret (OAuth 2.0, RFC 6749, section 4.4), and renews before it ends.
	LoginClientCredentials LoginType = "ClientCredentials"
	// LoginRefreshToken is the same with the refresh token of the key refresh-token beside these
	// (section 6). The value of client-secret is empty for a client that has none.
	LoginRefreshToken LoginType = "RefreshToken"
	// LoginAWSSigV4 signs each request of HTTP with the keys accessKeyID and secretAccessKey (AWS
	// Signature Version 4).
	LoginAWSSigV4 LoginType = "AWSSigV4"
)

// ObtainsToken says whether workers obtain a token, which no Secret has.
func (l *Login) ObtainsToken() bool {
	return l.Type == LoginClientCredentials || l.Type == LoginRefreshToken
}
