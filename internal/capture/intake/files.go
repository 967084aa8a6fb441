package intake

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"claudemem/internal/capture/repo"
	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/glob"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// maxHashed is the size up to which a file is hashed, in bytes.
const maxHashed = 1 << 20

// maxPath bounds the paths that are kept, in bytes.
const maxPath = 4096

// files returns the file that a tool event touched, with its path as it is stored and, if the file
// is in the worktree and may be read, its hash; none when the tool failed or has no file. The
// content is that of now, so e is one that has just happened.
func files(e *memory.Event, call *toolcall.Call, withheld glob.Set) []memory.FileRef {
	file := call.File
	if file == "" || call.Role == "" {
		return nil
	}
	ref := memory.FileRef{Role: call.Role}
	safe := clean(file)
	if safe == file {
		ref.Path = repo.Relative(e.WorktreeRoot, e.Cwd, file)
	} else {
		// Masked before it is made relative, which can break a secret into parts that
		// no rule knows. The file itself cannot be found any more.
		ref.Path = repo.Relative(clean(e.WorktreeRoot), clean(e.Cwd), safe)
	}
	if safe == "" || ref.Path == "." || len(ref.Path) > maxPath || strings.ContainsAny(ref.Path, "\x00\n") {
		return nil
	}
	path := ref.Path
	ref.Path = clean(path) // cwd may hold a secret too
	// A masked path names no file that anybody could compare with later. The files of now say
	// nothing about a backfilled event.
	if safe == file && ref.Path == path && e.Backfill == "" && !withheld.File(file, e.Cwd) {
		ref.Hash = hash(e, path)
	}
	return []memory.FileRef{ref}
}

// hash returns the SHA-256 of a file in the worktree as it was at the event; "" when
// it is outside, no regular file, over maxHashed, gone, or changed since.
func hash(e *memory.Event, relative string) string {
	content, written, err := openfile.WithinDir(e.WorktreeRoot, filepath.FromSlash(relative), maxHashed)
	if err != nil || memory.MillisOf(written) > e.OccurredAt {
		return ""
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
