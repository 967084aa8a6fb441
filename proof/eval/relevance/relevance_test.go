package relevance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	if err := os.WriteFile(path, []byte("{\"id\":\"a\"}\n\n{\"id\":"), 0o600); err != nil {
		t.Fatal(err)
	}
	var list []Document
	if err := Lines(path, &list); err == nil || !strings.Contains(err.Error(), "docs.jsonl line 3") {
		t.Errorf("got %v, want the line that cannot be read", err)
	}
	if err := Lines(path+"x", &list); err == nil {
		t.Error("no error for a file that is not there")
	}
}

func TestDraw(t *testing.T) {
	var queries []Query
	for i := range 100 {
		queries = append(queries, Query{ID: fmt.Sprint(i)})
	}
	ids := func(list []Query) (ids []string) {
		for _, q := range list {
			ids = append(ids, q.ID)
		}
		return ids
	}
	few := ids(Draw(queries, 10))
	if again := ids(Draw(queries, 10)); !slices.Equal(few, again) {
		t.Errorf("drawn %v, then %v", few, again)
	}
	if slices.Equal(few, ids(queries[:10])) {
		t.Error("the first ten were drawn")
	}
	all := ids(Draw(queries, 1000))
	slices.Sort(all)
	if len(slices.Compact(all)) != len(queries) {
		t.Errorf("%d of 100 queries were drawn", len(all))
	}
}
