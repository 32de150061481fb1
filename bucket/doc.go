// Package bucket makes requests to object stores that speak the protocol of Amazon S3, signed by AWS
// Signature Version 4. The operator writes archives by it, and the plugin reads them.
//
//	a key, a body, credentials ──▶ Bucket.Request ──▶ *http.Request
//
// It is a leaf: it imports the standard library and the AWS SDK's signer only.
package bucket
