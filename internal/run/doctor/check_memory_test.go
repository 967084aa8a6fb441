package doctor

import (
	"testing"

	"claudemem/internal/keep/index"
	"claudemem/internal/run/control"
)

// TestTrainedVectors checks what the line of the index says of a trained table.
func TestTrainedVectors(t *testing.T) {
	e := newExam(t.Context(), Config{DataDir: t.TempDir(), Getenv: environment()})
	health := func(s index.Status) control.IndexHealth { return control.IndexHealth{Status: s} }
	list, fine := e.index(health(index.Status{Documents: 3000, Trained: 2250}))
	if len(list) != 0 || fine != "3000 records, vectors trained on 2250 observations" {
		t.Errorf("%+v, %q", list, fine)
	}
	list, _ = e.index(health(index.Status{Documents: 3000, TrainError: "write vectors: no space left on device"}))
	if len(list) != 1 || list[0].Name != "training-failed" || list[0].Fix != "claude-mem reindex" || list[0].Text != "write vectors: no space left on device" {
		t.Errorf("after a failed training: %+v", list)
	}
}
