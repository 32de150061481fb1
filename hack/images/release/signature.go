package release

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

// A signature of cosign is an image under a tag that is made of the digest that is signed. Each
// layer is a signed text, with the signature in an annotation:
// https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md
const (
	signedType      = types.MediaType("application/vnd.dev.cosign.simplesigning.v1+json")
	signatureOf     = "dev.cosignproject.cosign/signature"
	signatureOfType = "cosign container image signature"
)

// Key signs what is pushed.
type Key struct{ private *ecdsa.PrivateKey }

// ReadKey reads a private key of ECDSA in PEM: one of cosign generate-key-pair, which its
// password opens, or one in PKCS #8 or SEC 1, as openssl writes them.
func ReadKey(text, password []byte) (Key, error) {
	block, rest := pem.Decode(text)
	if block != nil && block.Type == "EC PARAMETERS" { // openssl ecparam writes the curve before the key
		block, _ = pem.Decode(rest)
	}
	if block == nil {
		return Key{}, errors.New("it is not PEM: make one with cosign generate-key-pair")
	}
	content := block.Bytes
	switch block.Type {
	case "ENCRYPTED SIGSTORE PRIVATE KEY", "ENCRYPTED COSIGN PRIVATE KEY":
		var err error
		if content, err = encrypted.Decrypt(content, password); err != nil {
			return Key{}, errors.New("its password is another: COSIGN_PASSWORD has that of cosign generate-key-pair")
		}
	case "PRIVATE KEY":
	case "EC PRIVATE KEY":
		private, err := x509.ParseECPrivateKey(content)
		if err != nil {
			return Key{}, fmt.Errorf("read it: %w", err)
		}
		return Key{private}, nil
	default:
		return Key{}, fmt.Errorf("it has %s: want a private key, such as one of cosign generate-key-pair", block.Type)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(content)
	if err != nil {
		return Key{}, fmt.Errorf("read it: %w", err)
	}
	private, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return Key{}, fmt.Errorf("it is a %T: want one of ECDSA, such as one of cosign generate-key-pair", parsed)
	}
	return Key{private}, nil
}

// Sign adds a signature of what was pushed to those that there are, unless the key has signed it
// before: then a release that is pushed again is the same.
func (k Key) Sign(ctx context.Context, pushed Pushed) error {
	text, err := signedText(pushed)
	if err != nil {
		return err
	}
	tag := pushed.repository.Tag(pushed.digest.Algorithm + "-" + pushed.digest.Hex + ".sig")
	signatures, err := remote.Image(tag, options(ctx)...)
	if isMissing(err) {
		signatures, err = mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), nil
	}
	if err != nil {
		return fmt.Errorf("read the signatures of %s: %w", pushed, err)
	}
	if signed, err := k.hasSigned(signatures, text); err != nil || signed {
		return err
	}
	sum := sha256.Sum256(text)
	signature, err := ecdsa.SignASN1(rand.Reader, k.private, sum[:])
	if err != nil {
		return fmt.Errorf("sign %s: %w", pushed, err)
	}
	signatures, err = mutate.Append(signatures, mutate.Addendum{
		Layer: static.NewLayer(text, signedType), Annotations: map[string]string{signatureOf: base64.StdEncoding.EncodeToString(signature)},
	})
	if err != nil {
		return fmt.Errorf("sign %s: %w", pushed, err)
	}
	if err := remote.Write(tag, signatures, options(ctx)...); err != nil {
		return fmt.Errorf("push the signature of %s: %w", pushed, err)
	}
	return nil
}

// SignBlob signs a file. The signature is as cosign verify-blob reads it.
func (k Key) SignBlob(content []byte) ([]byte, error) {
	sum := sha256.Sum256(content)
	signature, err := ecdsa.SignASN1(rand.Reader, k.private, sum[:])
	if err != nil {
		return nil, err
	}
	return []byte(base64.StdEncoding.EncodeToString(signature)), nil
}

// signedText says which image is signed, and where it is.
func signedText(pushed Pushed) ([]byte, error) {
	var text struct {
		Critical struct {
			Identity struct {
				Reference string `json:"docker-reference"`
			} `json:"identity"`
			Image struct {
				Digest string `json:"docker-manifest-digest"`
			} `json:"image"`
			Type string `json:"type"`
		} `json:"critical"`
		Optional map[string]string `json:"optional"`
	}
	text.Critical.Identity.Reference = pushed.repository.String()
	text.Critical.Image.Digest = pushed.digest.String()
	text.Critical.Type = signatureOfType
	return json.Marshal(text)
}

// hasSigned says whether one of the signatures is this key's, of this text.
func (k Key) hasSigned(signatures v1.Image, text []byte) (bool, error) {
	manifest, err := signatures.Manifest()
	if err != nil {
		return false, fmt.Errorf("read the signatures: %w", err)
	}
	sum := sha256.Sum256(text)
	for _, layer := range manifest.Layers {
		signature, err := base64.StdEncoding.DecodeString(layer.Annotations[signatureOf])
		if err == nil && layer.Digest.Hex == fmt.Sprintf("%x", sum) && ecdsa.VerifyASN1(&k.private.PublicKey, sum[:], signature) {
			return true, nil
		}
	}
	return false, nil
}

// isMissing says whether a registry answered that it has no such thing.
func isMissing(err error) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound
}
