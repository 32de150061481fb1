package release

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/secure-systems-lab/go-securesystemslib/encrypted"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Succeed(t, err)
	return key
}

func inPEM(kind string, content []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})
}

// signaturesOf are the layers under the tag where cosign looks for signatures.
func signaturesOf(t *testing.T, pushed Pushed) []v1.Descriptor {
	t.Helper()
	image, err := remote.Image(pushed.repository.Tag("sha256-" + pushed.digest.Hex + ".sig"))
	must.Succeed(t, err)
	manifest, err := image.Manifest()
	must.Succeed(t, err)
	return manifest.Layers
}

func TestSignaturesAreAddedOnceForEachKey(t *testing.T) {
	to := at(started(t))
	image := pushedImage(t, to, "operator")
	keys := []Key{{newKey(t)}, {newKey(t)}}
	for _, key := range []Key{keys[0], keys[0], keys[1], keys[0]} {
		must.Succeed(t, key.Sign(t.Context(), image))
	}
	layers := signaturesOf(t, image)
	if len(layers) != len(keys) {
		t.Fatalf("%d signatures of %d keys", len(layers), len(keys))
	}
	for i, layer := range layers {
		content, err := remote.Layer(image.repository.Digest(layer.Digest.String()))
		must.Succeed(t, err)
		reader, err := content.Compressed()
		must.Succeed(t, err)
		text, err := io.ReadAll(reader)
		must.Succeed(t, err)
		signature, err := base64.StdEncoding.DecodeString(layer.Annotations["dev.cosignproject.cosign/signature"])
		must.Succeed(t, err)
		if sum := sha256.Sum256(text); !ecdsa.VerifyASN1(&keys[i].private.PublicKey, sum[:], signature) {
			t.Errorf("signature %d is not of key %d", i, i)
		}
		var signed struct {
			Critical struct {
				Image map[string]string
				Type  string
			}
		}
		must.Succeed(t, json.Unmarshal(text, &signed))
		same.As(t, "digest", image.digest.String(), signed.Critical.Image["docker-manifest-digest"])
		same.As(t, "type", "cosign container image signature", signed.Critical.Type)
	}
}

func TestKeysOfCosignAndOpenSSLAreRead(t *testing.T) {
	key := newKey(t)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	must.Succeed(t, err)
	sec1, err := x509.MarshalECPrivateKey(key)
	must.Succeed(t, err)
	locked, err := encrypted.Encrypt(pkcs8, []byte("correct"))
	must.Succeed(t, err)
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	must.Succeed(t, err)
	_, other, err := ed25519.GenerateKey(rand.Reader)
	must.Succeed(t, err)
	otherKind, err := x509.MarshalPKCS8PrivateKey(other)
	must.Succeed(t, err)
	for name, test := range map[string]struct {
		text     []byte
		password string
		want     string
	}{
		"PKCS 8":              {inPEM("PRIVATE KEY", pkcs8), "", ""},
		"SEC 1 after a curve": {append(inPEM("EC PARAMETERS", []byte{6, 8, 42, 134, 72, 206, 61, 3, 1, 7}), inPEM("EC PRIVATE KEY", sec1)...), "", ""},
		"a curve alone":       {inPEM("EC PARAMETERS", []byte{6}), "", "cosign generate-key-pair"},
		"SEC 1":               {inPEM("EC PRIVATE KEY", sec1), "", ""},
		"of cosign":           {inPEM("ENCRYPTED SIGSTORE PRIVATE KEY", locked), "correct", ""},
		"of an older cosign":  {inPEM("ENCRYPTED COSIGN PRIVATE KEY", locked), "correct", ""},
		"with another secret": {inPEM("ENCRYPTED SIGSTORE PRIVATE KEY", locked), "wrong", "COSIGN_PASSWORD"},
		"without a password":  {inPEM("ENCRYPTED SIGSTORE PRIVATE KEY", locked), "", "COSIGN_PASSWORD"},
		"no PEM":              {[]byte("key"), "", "cosign generate-key-pair"},
		"a public key":        {inPEM("PUBLIC KEY", public), "", "it has PUBLIC KEY"},
		"another kind":        {inPEM("PRIVATE KEY", otherKind), "", "want one of ECDSA"},
		"cut off":             {inPEM("PRIVATE KEY", pkcs8[:20]), "", "read it"},
	} {
		t.Run(name, func(t *testing.T) {
			read, err := ReadKey(test.text, []byte(test.password))
			if test.want == "" && (err != nil || !read.private.Equal(key)) || test.want != "" && !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("error = %v, want %q", err, test.want)
			}
		})
	}
}
