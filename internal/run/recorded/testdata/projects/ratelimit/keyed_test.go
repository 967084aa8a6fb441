package ratelimit

import (
	"testing"
	"time"
)

func TestKeyedKeepsKeysApart(t *testing.T) {
	k := NewKeyed(1, 1, time.Minute)
	if !k.Allow("alice") || !k.Allow("bob") {
		t.Fatal("each key has a bucket of its own")
	}
	if k.Allow("alice") {
		t.Error("alice has used her token")
	}
}
