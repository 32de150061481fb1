package v1beta1

// Login is what the Authorization header of requests has, unless they have one of their own.
//
// +kubebuilder:validation:XValidation:rule="has(self.path) == (self.type in ['ClientCredentials', 'RefreshToken'])",message="path must be set for ClientCredentials and RefreshToken alone"
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
}

// LoginType is how to log in.
//
// +kubebuilder:validation:Enum=Basic;Bearer;ClientCredentials;RefreshToken
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
)

// ObtainsToken says whether workers obtain a token, which no Secret has.
func (l *Login) ObtainsToken() bool {
	return l.Type == LoginClientCredentials || l.Type == LoginRefreshToken
}
