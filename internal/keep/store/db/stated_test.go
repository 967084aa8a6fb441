package db

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"claudemem/internal/keep/sqlite"
)

// TestStatedColumns has the tables with their columns as they were promised: some may be added,
// none dropped or renamed.
func TestStatedColumns(t *testing.T) {
	const stated = `
sessions host host_session_id memory_session_id project label status title started_at updated_at completed_at
prompts session_id number prompt_id text branch head_commit created_at
observations session_id project prompt_number type title subtitle narrative facts concepts discovery_tokens content_hash origin agent_id agent_type branch head_commit times_seen pinned superseded_by deleted_at created_at
observation_files path role file_hash
observation_concepts concept observation_id
session_summaries session_id prompt_number request investigated learned completed next_steps files_read files_edited notes origin created_at
learnings project category content confidence times_seen is_active superseded_by created_at updated_at
function_map session_id file_path snapshot_at qualified_name kind signature line_start line_end body_hash change_type renamed_from
events event_key delivery_id session_id kind prompt_number occurred_at received_at outcome reason
pending_messages attempts claimed_at last_error
event_log event_type session_id data duration_ms tokens_out
changes seq kind id operation
injections session_id
llm_calls provider model kind
tombstones created_at`
	db, err := sql.Open(sqlite.Driver, "file::memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(newestSchema); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(strings.TrimSpace(stated)) {
		words := strings.Fields(line)
		for _, column := range words[1:] {
			if there, err := Value[bool](context.Background(), db, "SELECT EXISTS (SELECT 1 FROM pragma_table_info(?) WHERE name = ?)", words[0], column); err != nil || !there {
				t.Errorf("%s has no column %s, %v", words[0], column, err)
			}
		}
	}
}
