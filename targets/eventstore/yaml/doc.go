// Package yaml reads the file of tenants:
//
//	tenants:
//	  - name: shop
//	    apiKey: s3cr3t
//
// It owns that form. It imports the domain and yaml.v3.
package yaml
