package block

import (
	"context"
	"testing"

	"claudemem/internal/memory"
)

// BenchmarkContext builds the block of a session start without a database: what
// the layers, their goroutines and the cleaning of the lines cost.
func BenchmarkContext(b *testing.B) {
	m, d := weeks()
	builder := New(m, Options{Distiller: d, Finder: rounding()})
	req := memory.ContextRequest{Host: memory.HostClaudeCode, ProjectPath: testProject, HostSessionID: "new", Source: "startup"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := builder.Context(context.Background(), req); err != nil {
			b.Fatal(err)
		}
	}
}
