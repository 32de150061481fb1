// Package objectstore copies archives of runs from an object store into a folder, where they are
// read like archives on a volume.
//
//	s3://BUCKET/PREFIX ──▶ Parse ──▶ Store ──▶ Copy ──▶ FOLDER/NAMESPACE/NAME/UID.json.gz
//	the environment ─────────┘
//
// Credentials, region and endpoint come from the environment, by the names that the AWS CLI gives
// them. What a store answers is not trusted: keys that lead out of the folder are left out,
// and what is read of an answer is bounded.
package objectstore
