package index

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"time"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// The file index.db-sums has the CRC-32C of each page of index.db, little-endian, and one of
// itself. SQLite changes index.db at a checkpoint only, and only the writer makes one: what else
// changes the file is damage. Pages in the log have checksums of SQLite's.

const (
	pageSize  = 4096 // SQLite's default
	logHead   = 32   // bytes, the head of the log; each page in it has one of frameHead
	frameHead = 24
	// checkpointBytes is the size of the log from which a commit is followed by a checkpoint.
	checkpointBytes = 16 << 20
)

// errPages says that index.db is not as the last checkpoint left it.
var errPages = fmt.Errorf("pages were changed by the disk or another program: %w", sqlite.ErrDamaged)

func sumsPath(path string) string { return path + "-sums" }

func sumOf(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// sealed returns the bytes of a row with a checksum of them and the row's number behind them.
func sealed(row uint32, b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, sumOf(b)^row)
}

// unsealed returns the bytes of a row that sealed has written, sqlite.ErrDamaged if they are other
// ones.
func unsealed(row uint32, b []byte) ([]byte, error) {
	n := len(b) - 4
	if n < 0 || sumOf(b[:n])^row != binary.LittleEndian.Uint32(b[n:]) {
		return nil, sqlite.ErrDamaged
	}
	return b[:n], nil
}

// readSums returns the sums of the pages of the database at path; none if they are missing or
// damaged. An error says nothing of them, such as one for too many open files.
func readSums(path string) (sums []uint32, err error) {
	file, _, err := openfile.Beginning(sumsPath(path), 1<<28)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, openfile.ErrNotRegular) || errors.Is(err, openfile.ErrUnfit) {
		return nil, nil
	}
	if n := len(file) - 4; err != nil || n < 0 || n%4 != 0 || sumOf(file[:n]) != binary.LittleEndian.Uint32(file[n:]) {
		return nil, err
	}
	sums = make([]uint32, len(file)/4-1)
	_, err = binary.Decode(file, binary.LittleEndian, sums)
	return sums, err
}

// writeSums replaces the file of the sums, on the disk too.
func writeSums(path string, sums []uint32) error {
	file, _ := binary.Append(nil, binary.LittleEndian, sums) // never fails
	return atomicfile.WriteOwn(sumsPath(path), binary.LittleEndian.AppendUint32(file, sumOf(file)), 0o600)
}

// eachPage calls fn with the first n pages of a file behind its head, and with their own heads. If
// it has fewer, the error is io.EOF or io.ErrUnexpectedEOF.
func eachPage(f io.ReaderAt, n, fileHead, head int, fn func(head, page []byte)) error {
	r := bufio.NewReaderSize(io.NewSectionReader(f, int64(fileHead), 1<<62), 1<<20)
	buffer := make([]byte, head+pageSize)
	for range n {
		if _, err := io.ReadFull(r, buffer); err != nil {
			return err
		}
		fn(buffer[:head], buffer[head:])
	}
	return nil
}

// comparePages returns errPages if a page that is not in logged differs from its sum, if the last
// page is cut short or, without a log, if there are not as many pages as sums. logged is nil
// without a log, and for the writer, whose sums are always those of the file. Beside a log the
// numbers are not compared: a checkpoint that goes on, or was killed, may have changed the length
// of the file; the worker compares again when it has copied the log.
func comparePages(f *os.File, sums []uint32, logged map[uint32]bool) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	pages := info.Size() / pageSize
	// 1: a database that has never had a checkpoint has a page without a sum.
	if info.Size()%pageSize != 0 || len(logged) == 0 && pages != int64(len(sums)) && pages+int64(len(sums)) > 1 {
		return errPages
	}
	sums = sums[:min(int64(len(sums)), pages)]
	page, wrong := uint32(0), false
	err = eachPage(f, len(sums), 0, 0, func(_, content []byte) {
		page++
		wrong = wrong || sumOf(content) != sums[page-1] && !logged[page]
	})
	if err == nil && wrong {
		err = errPages
	}
	return err
}

// checkpoint copies the log into the database, takes the sums of the pages that it copied, and
// cuts the log to nothing. CodeConflict when a reader keeps the log from that.
func (b *base) checkpoint(ctx context.Context) error {
	var busy, frames, copied int
	if err := b.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(FULL)").Scan(&busy, &frames, &copied); err != nil {
		return err
	}
	if copied > 0 {
		if err := b.takeSums(frames, copied); err != nil {
			return memory.Errorf(memory.CodeStorage, "write sums of index.db: %w", err)
		}
	}
	if busy == 0 {
		// The sums are on the disk: whoever dies before finds the pages in the log.
		if err := b.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &copied); err != nil {
			return err
		}
	}
	if busy != 0 {
		return memory.Errorf(memory.CodeConflict, "another program reads index.db").WithHint("close it and try again")
	}
	return nil
}

// takeSums takes the sums of the pages that a checkpoint has copied from the log: of frames in it,
// those of the first copied that no later one replaces.
func (b *base) takeSums(frames, copied int) error {
	f, err := openfile.Open(b.path+"-wal", os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	type frame struct {
		number int
		sum    uint32
	}
	last := map[uint32]frame{} // by page
	number, size := 0, uint32(0)
	if err := eachPage(f, frames, logHead, frameHead, func(head, page []byte) {
		number++
		last[binary.BigEndian.Uint32(head)] = frame{number, sumOf(page)}
		if pages := binary.BigEndian.Uint32(head[4:]); pages > 0 && number <= copied { // a commit
			size = pages
		}
	}); err != nil {
		return err
	}
	for page, l := range last { // one with a later frame, not copied yet, gets its sum from that
		if l.number <= copied && page > 0 {
			b.sums = reach(b.sums, page-1)
			b.sums[page-1] = l.sum
		}
	}
	if frames == copied && int(size) < len(b.sums) { // the file got shorter
		b.sums = b.sums[:size]
	}
	return writeSums(b.path, b.sums)
}

// checkpointLarge makes a checkpoint if the log is large. After a failure, such as a reader in the
// way, it tries again when the log has grown by as much again.
func (b *base) checkpointLarge(ctx context.Context) {
	info, err := os.Stat(b.path + "-wal")
	if err != nil || info.Size() < b.logKept+checkpointBytes {
		return
	}
	b.logKept = 0
	if b.checkpoint(ctx) != nil {
		b.logKept = info.Size()
	}
}

// blame returns err, or errPages with it if pages were changed: what they hold now can look like any
// other fault.
func (b *base) blame(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || b.pages == nil || damaged(err) {
		return err
	}
	if changed := checkPages(b.pages, b.path); damaged(changed) {
		return fmt.Errorf("%w (%v)", changed, err) //nolint:errorlint // err is what came of it
	}
	return err
}

// CheckPages compares the pages of the index at path with their sums, beside the worker or
// without one; the error is CodeStorage if they differ. A process that has the index open must
// not call it: to close a file gives up all locks that the process has on it.
func CheckPages(path string) error {
	f, err := openfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return ifExists(err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	return fault("check index", checkPages(f, path))
}

// checkPages is CheckPages for an open file. It looks three times, since the worker may write.
func checkPages(f *os.File, path string) error {
	for range 3 {
		sums, err := readSums(path)
		if err != nil {
			return err
		}
		logged, err := loggedPages(path + "-wal")
		if err != nil {
			return err
		}
		if err = comparePages(f, sums, logged); !errors.Is(err, errPages) {
			return err
		}
	}
	return errPages
}

// loggedPages returns the numbers of the pages that a log has; none without a log.
func loggedPages(path string) (map[uint32]bool, error) {
	log, err := openfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, ifExists(err)
	}
	defer func() { _ = log.Close() }() // opened for reading only
	logged, salt := map[uint32]bool{}, make([]byte, 8)
	if _, err = log.ReadAt(salt, 16); err == nil {
		err = eachPage(log, 1<<31-1, logHead, frameHead, func(head, _ []byte) { // up to its end
			if bytes.Equal(head[8:16], salt) {
				logged[binary.BigEndian.Uint32(head)] = true
			}
		})
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return logged, err
}

// trimAfter is the time after the last change, or the start, at which a log of more than
// keptLog bytes is cut. SQLite itself leaves the file as large as it once was.
const (
	trimAfter = 30 * time.Second
	keptLog   = 1 << 20
)

// trim cuts a large log when its time has come. With a reader in the way it tries again
// after the next change.
func (f *follower) trim(ctx context.Context, ix *Index) error {
	if f.trimAt.IsZero() || ix.until(f.trimAt, trimAfter) > 0 {
		return nil
	}
	f.trimAt = time.Time{}
	info, err := os.Stat(ix.path + "-wal")
	if err != nil || info.Size() <= keptLog {
		return ifExists(err)
	}
	if err := ix.base.checkpoint(ctx); memory.CodeOf(err) != memory.CodeConflict {
		return err
	}
	return nil
}
