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

// TestDigestOfNUL: one object whose text has a NUL does not stand for two.
func TestDigestOfNUL(t *testing.T) {
	two := []object{{"table", "a", "a", "CREATE"}, {"trigger", "b", "a", "CREATE"}}
	one := []object{{"table", "a", "a", "CREATE\x00\x00trigger\x00b\x00a\x00CREATE"}}
	if digest(one) == digest(two) {
		t.Error("one object has the digest of two")
	}
}
