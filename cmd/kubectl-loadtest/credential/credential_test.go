package credential_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/credential"
)

func TestInHeader(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "Proxy-Authorization": true, "X-Auth": true, "Cookie": true, "X-Amz-Security-Token": true,
		"X-API-KEY": true, "X-Session-Id": true, "X-Hub-Signature-256": true, "x-secret-bin": true, "X-Goog-Credential": true, "X-Password": true,
		"Accept": false, "Content-Type": false, "X-Tenant": false, "User-Agent": false, "": false,
	} {
		if got := credential.InHeader(name); got != want {
			t.Errorf("InHeader(%q) = %v", name, got)
		}
	}
}
