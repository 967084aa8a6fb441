package devices

import "testing"

// BenchmarkIdle measures an exchange in which nothing is new, of a device that has written 20,000 files since it began.
func BenchmarkIdle(b *testing.B) {
	m := newMachine(b, "ada")
	m.remember("first")
	share(b, m)
	var o own
	m.must(m.store.SharedState(b.Context(), "own", &o))
	o.Number, o.Anew = 20_000, true
	m.must(m.store.KeepSharedState(b.Context(), map[string]any{"own": o}))
	m.sync()
	for b.Loop() {
		m.sync()
	}
}
