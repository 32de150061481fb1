package v1beta1_test

// loginValidations are about how requests log in.
var loginValidations = []validation{
	{name: "path of a login", valid: "{logins: [{name: a, type: RefreshToken, secretName: loadtest-a, target: b, path: /token}], target: {url: 'http://a', login: a}}",
		invalid: "{logins: [{name: a, type: ClientCredentials, secretName: loadtest-a}]}",
		want:    []string{"spec.logins[0]: Invalid value: path must be set for ClientCredentials and RefreshToken alone"}},
	{name: "path of a login without a token", valid: "{logins: [{name: a, type: Basic, secretName: loadtest-a}]}",
		invalid: "{logins: [{name: a, type: Basic, secretName: loadtest-a, path: /token}]}",
		want:    []string{"spec.logins[0]: Invalid value: path must be set for ClientCredentials and RefreshToken alone"}},
	{name: "scopes of a login", valid: "{logins: [{name: a, type: ClientCredentials, secretName: loadtest-a, path: /token, scopes: [read], audience: b}]}",
		invalid: "{logins: [{name: a, type: RefreshToken, secretName: loadtest-a, path: /token, scopes: [read]}]}",
		want:    []string{"spec.logins[0]: Invalid value: scopes and audience must not be set unless type is ClientCredentials"}},
	{name: "audience of a login", valid: "{logins: [{name: a, type: Bearer, secretName: loadtest-a}]}",
		invalid: "{logins: [{name: a, type: Bearer, secretName: loadtest-a, audience: b}]}",
		want:    []string{"spec.logins[0]: Invalid value: scopes and audience must not be set unless type is ClientCredentials"}},
}
