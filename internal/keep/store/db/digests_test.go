package db

import "testing"

// TestDigests compares the digests with what the migrations make.
func TestDigests(t *testing.T) {
	for version := 1; version <= SchemaVersion(); version++ {
		objects, err := structureOf(t.Context(), version)
		if err != nil {
			t.Fatal(err)
		}
		for i := range objects {
			objects[i] = objects[i].normalized()
		}
		if version > len(digests) || digest(objects) != digests[version-1] {
			t.Errorf("want the digest of schema %d:\n\"%s\",", version, digest(objects))
		}
	}
}
