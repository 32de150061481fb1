package v1beta1_test

// loginValidations are about how requests log in.
var loginValidations = []validation{
	{name: "path of a login", valid: "{logins: [{name: a, type: RefreshToken, secretName: loadtest-a, target: b, path: /token}], target: {url: 'http://a', login: a}}",
		invalid: "{logins: [{name: a, type: ClientCredentials, secretName: loadtest-a}]}",
		want:    []string{"spec.logins[0]: Invalid value: path must be set for ClientCredentials and RefreshToken alone"}},
	{name: "path of a login without a token", valid: "{logins: [{name: a, type: Basic, secretName: loadtest-a}]}",
		invalid: "{logins: [{name: a, type: Basic, secretName: loadtest-a, path: /token}]}",
		want:    []string{"spec.logins[0]: Invalid value: path must be set for ClientCredentials and RefreshToken alone"}},
	{name: "aws of a login", valid: "{logins: [{name: a, type: AWSSigV4, secretName: loadtest-a, aws: {region: eu-central-1, service: execute-api}}]}",
		invalid: "{logins: [{name: a, type: AWSSigV4, secretName: loadtest-a}]}",
		want:    []string{"spec.logins[0]: Invalid value: aws must be set for AWSSigV4 alone"}},
	{name: "aws of a login without signatures", valid: "{logins: [{name: a, type: AWSSigV4, secretName: loadtest-a, aws: {region: x, service: s3, temporary: true}}]}",
		invalid: "{logins: [{name: a, type: Basic, secretName: loadtest-a, aws: {region: x, service: s3}}]}",
		want:    []string{"spec.logins[0]: Invalid value: aws must be set for AWSSigV4 alone"}},
	{name: "region of a login", valid: "{logins: [{name: a, type: AWSSigV4, secretName: loadtest-a, aws: {region: us-east-1, service: aoss}}]}",
		invalid: "{logins: [{name: a, type: AWSSigV4, secretName: loadtest-a, aws: {region: a/b, service: s3}}]}",
		want:    []string{"spec.logins[0].aws.region: Invalid value: \"a/b\": spec.logins[0].aws.region in body should match '^[a-z0-9-]+$'"}},
	{name: "service of a login", valid: "{logins: [{name: a, type: AWSSigV4, secretName: loadtest-a, aws: {region: us-east-1, service: s3}}]}",
		invalid: "{logins: [{name: a, type: AWSSigV4, secretName: loadtest-a, aws: {region: us-east-1, service: S3}}]}",
		want:    []string{"spec.logins[0].aws.service: Invalid value: \"S3\": spec.logins[0].aws.service in body should match '^[a-z0-9-]+$'"}},
	{name: "scopes of a login", valid: "{logins: [{name: a, type: ClientCredentials, secretName: loadtest-a, path: /token, scopes: [read], audience: b}]}",
		invalid: "{logins: [{name: a, type: RefreshToken, secretName: loadtest-a, path: /token, scopes: [read]}]}",
		want:    []string{"spec.logins[0]: Invalid value: scopes and audience must not be set unless type is ClientCredentials"}},
	{name: "audience of a login", valid: "{logins: [{name: a, type: Bearer, secretName: loadtest-a}]}",
		invalid: "{logins: [{name: a, type: Bearer, secretName: loadtest-a, audience: b}]}",
		want:    []string{"spec.logins[0]: Invalid value: scopes and audience must not be set unless type is ClientCredentials"}},
}
