package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"time"

	"claudemem/internal/keep/index/embed"
	"claudemem/internal/keep/index/embed/train"
	"claudemem/internal/keep/index/vectors"
	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

const (
	// LeastTrained is the number of observations from which on the table is trained: with
	// fewer it learned little.
	LeastTrained = 1000
	// MostTrained bounds the observations that it is trained on. More were not better.
	MostTrained = 20_000
	// readForTraining is the number of records that are read at once.
	readForTraining = 200
)

// TrainingStep returns the number of observations that a memory of n is trained on, or
// rather those that they are drawn from: 1000, and then each time a quarter more. So it
// depends on the memory alone and not on the moment at which somebody looked. 0 is for
// none.
func TrainingStep(n int) int {
	if n < LeastTrained {
		return 0
	}
	step := LeastTrained
	for step+step/4 <= n {
		step += step / 4
	}
	return step
}

// TrainOptions are what Train takes.
type TrainOptions struct {
	// Share is the share of a core that it may take, in the long run. 0 is for a whole core.
	Share float64
}

// Train trains the table of the observations' vectors further on the observations, if there
// are enough of them, and has the follower put vectors of the new table in the place of the
// old ones, all at once; until then the old table answers. It returns when that is done, or
// at once when there is nothing to do: what the table was trained on has not changed, or it
// is not to be trained. It waits for another training. After an error the old table stays.
//
// The codes of its errors: CodeConflict while a rebuild runs,
// CodeStorage, CodeUnavailable.
func (ix *Index) Train(ctx context.Context, o TrainOptions) error {
	const what = "train embedding table"
	if ix.readOnly || ix.untrained {
		return nil
	}
	ix.training.Lock() // one that is under way ends with the worker, too
	defer ix.training.Unlock()
	err := ix.train(ctx, &pace{share: o.Share, ix: ix, ctx: ctx})
	ix.state.update(func(s *state) {
		if ctx.Err() != nil || errors.Is(err, errClosed) || memory.CodeOf(err) == memory.CodeConflict {
			return // nothing is wrong
		}
		s.training = failure{err, ix.clock()}
	})
	return fault(what, err)
}

var errReplaced = memory.Errorf(memory.CodeConflict, "the index was replaced meanwhile")

// TrainingDue reports whether Train has something to do because observations came.
func (ix *Index) TrainingDue() bool {
	if ix.readOnly || ix.untrained || ix.tableKept.Load() {
		return false
	}
	b, done, err := ix.current()
	if err != nil {
		return false
	}
	defer done()
	of := 0
	if b.trained != nil {
		training, _ := b.trained.Training()
		of = training.Of
	}
	return b.build.kind == 0 && TrainingStep(b.cat.counts[kindObservation]) > of
}

// train is Train for an index that can be trained, with ix.training held.
func (ix *Index) train(ctx context.Context, p *pace) error {
	if err := ix.CatchUp(ctx); err != nil {
		return err
	}
	p.start()
	sample, of, present, err := ix.trainingSample()
	if err != nil || len(sample) == 0 {
		return err
	}
	pairs, err := ix.readPairs(ctx, sample, p.rest)
	if err != nil {
		return err
	}
	if present != nil {
		if training, _ := present.Training(); training.Input == train.Input(ix.table, pairs) {
			return nil
		}
	}
	began := ix.clock()
	table, file, err := train.Table(ix.table, pairs, of, p.rest)
	if err != nil {
		return err
	}
	ix.log.Info("the embedding table was trained", "observations", len(pairs), "of", of, "ms", ix.clock().Sub(began).Milliseconds())
	r := &retraining{ctx: ctx, table: table, file: file, pace: p, done: make(chan error, 1)}
	select {
	case ix.follower.tables <- r:
	case <-ctx.Done():
		return ctx.Err()
	case <-ix.follower.done:
		return errClosed
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done(): // the follower, which may be pausing after a failure, ends it later
		return ctx.Err()
	}
}

// trainingSample returns the observations to train on, in the order of their numbers, of how
// many, the oldest, they were drawn (TrainingStep), and the table in use, nil for the built-in one.
func (ix *Index) trainingSample() (sample []memory.RecordRef, of int, present *embed.Table, err error) {
	b, done, err := ix.current()
	if err != nil {
		return nil, 0, nil, err
	}
	defer done()
	var ids []int64
	for d := range b.cat.observations.All() {
		ids = append(ids, b.cat.entries[d].record)
	}
	of = TrainingStep(len(ids))
	slices.Sort(ids)
	ids = ids[:of]
	if len(ids) > MostTrained {
		slices.SortFunc(ids, func(x, y int64) int { return cmp.Or(cmp.Compare(lot(x), lot(y)), cmp.Compare(x, y)) })
		ids = ids[:MostTrained]
		slices.Sort(ids)
	}
	return collect.Map(ids, func(id int64) memory.RecordRef { return memory.RecordRef{Kind: memory.RecordObservation, ID: id} }), of, b.trained, nil
}

// lot returns a number by which records are drawn, the same each time.
func lot(id int64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(id))) //nolint:gosec // a pattern of bits
	return h.Sum64()
}

// readPairs reads what the table is trained on. Observations that are gone by now are left
// out.
func (ix *Index) readPairs(ctx context.Context, sample []memory.RecordRef, rest func() error) ([]train.Pair, error) {
	pairs := make([]train.Pair, 0, len(sample))
	for refs := range slices.Chunk(sample, readForTraining) {
		documents, err := ix.feed.Documents(ctx, refs...)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(documents, func(x, y memory.Document) int { return cmp.Compare(x.ID, y.ID) })
		pairs = append(pairs, collect.MapPtr(documents, ix.pairOf)...)
		if err := rest(); err != nil {
			return nil, err
		}
	}
	return pairs, nil
}

// pairOf returns an observation's title, and its text without the title: one that was written down
// without a title got the beginning of its text as such.
func (ix *Index) pairOf(d *memory.Document) train.Pair {
	p := train.Pair{
		Title: ix.table.Pieces(d.Title),
		Text:  ix.table.Pieces(strings.Join(append([]string{d.Text}, d.Facts...), "\n")),
	}
	if n := len(p.Title); len(p.Text) >= n && slices.Equal(p.Text[:n], p.Title) {
		p.Text = p.Text[n:]
	}
	return p
}

// pace keeps work in the background to a share of a core.
type pace struct {
	share float64
	ix    *Index
	ctx   context.Context // of the work
	since time.Time
}

// start begins a stretch of work.
func (p *pace) start() { p.since = p.ix.clock() }

// owed returns how long to rest after the work since start, at most a second: the clock may
// have been set.
func (p *pace) owed() time.Duration {
	worked := p.ix.clock().Sub(p.since)
	if p.share <= 0 || p.share >= 1 || worked <= 0 {
		return 0
	}
	return min(time.Duration(float64(worked)*(1/p.share-1)), time.Second)
}

// rest waits as long as the work since the last rest asks for. The error is that of the
// context, or that the index was closed.
func (p *pace) rest() error {
	if owed := p.owed(); owed > 0 {
		select {
		case <-p.ix.after(owed):
		case <-p.ctx.Done():
		case <-p.ix.follower.done:
		}
	}
	p.start()
	select {
	case <-p.ix.follower.done:
		return errClosed
	default:
		return p.ctx.Err()
	}
}

// tablePath returns the path of the trained table of the index at path.
func tablePath(path string) string { return strings.TrimSuffix(path, ".db") + ".table" }

// nextSuffix ends the names of a table and of vectors that are about to be used.
const nextSuffix = ".new"

// DropTable deletes the trained table of the index at path, which nobody has open. The next
// index that is opened there begins with the built-in one.
func DropTable(path string) error {
	return errors.Join(remove(tablePath(path)), dropNextTable(path))
}

// dropNextTable deletes a table, and vectors, that were about to be used.
func dropNextTable(path string) error {
	atomicfile.RemoveOwnLeftovers(tablePath(path) + nextSuffix)
	return remove(tablePath(path)+nextSuffix, vectorPath(path)+nextSuffix)
}

// maxTableBytes is more than a table with vectors of all entries has.
const maxTableBytes = 16 << 20

// readTable returns the trained table at path, nil if there is none or it is damaged.
func (ix *Index) readTable(path string) *embed.Table {
	file, _, err := openfile.Beginning(path, maxTableBytes)
	if err != nil {
		return nil
	}
	table, err := ix.table.OpenTrained(file)
	if err != nil {
		ix.log.Warn("the trained embedding table is not used", "path", path, "err", err)
		return nil
	}
	return table
}

// openTable returns the table of the observations' vectors, nil for the built-in one. It
// completes a change of the table, or takes it back: the change happened when the vectors
// got their name (swapTables).
func (ix *Index) openTable() (*embed.Table, error) {
	path := tablePath(ix.path)
	if ix.untrained {
		return nil, DropTable(ix.path)
	}
	next := ix.readTable(path + nextSuffix)
	// A change renames the vectors first, then, here, the table. A table whose vectors did not get
	// there is dropped.
	if next != nil && vectors.Holds(vectorPath(ix.path), next.Model(), next.Dimensions()) {
		if err := os.Rename(path+nextSuffix, path); err != nil {
			return nil, err
		}
	}
	if err := dropNextTable(ix.path); err != nil {
		return nil, err
	}
	table := ix.readTable(path)
	if _, err := os.Lstat(path); table != nil || err != nil {
		return table, nil //nolint:nilerr // there is none
	}
	// Without its file it is trained again, however often that is interrupted.
	if ix.tableKept.Store(!ix.mayRepair("index.table", "the file is damaged")); ix.tableKept.Load() {
		return nil, nil
	}
	return nil, os.Remove(path)
}

// tableFor returns the table of the saved model for a reader, nil for the built-in one and for a
// model that is no table of ours; false when its file is missing or of another table.
func (ix *Index) tableFor(model string) (*embed.Table, bool) {
	if family, trained := familyOf(model); !trained || family != ix.table.Model() {
		return nil, true
	}
	table := ix.readTable(tablePath(ix.path))
	return table, table != nil && table.Model() == model
}

// familyOf returns the name of the built-in table that a model is, or was trained from.
func familyOf(model string) (family string, trained bool) {
	family, _, trained = strings.Cut(model, "+")
	return family, trained
}

// adoptVectors finishes an interrupted switch of the table: the vector file is the new
// table's already, while the database still names the old one. A document has as many vectors
// in both.
func (b *base) adoptVectors(ctx context.Context) error {
	saved, _ := familyOf(b.savedModel)
	family, _ := familyOf(b.model)
	if b.savedModel == b.model || saved != family || b.savedDimensions != b.dimensions || !vectors.Holds(vectorPath(b.path), b.model, b.dimensions) {
		return nil
	}
	err := b.transaction(ctx, func(t *sqlite.Batch) { t.Exec(setMeta, metaModel, b.model) })
	if err == nil {
		b.savedModel = b.model
	}
	return err
}

// tableOf returns the table for the vectors of a kind of record.
func (ix *Index) tableOf(trained *embed.Table, k memory.RecordKind) *embed.Table {
	if trained != nil && kindOf(k) == kindObservation {
		return trained
	}
	return ix.table
}

// embed sets the vectors of the document's fragments.
func (d *analysed) embed(table *embed.Table) {
	d.vectors = collect.Map(d.cut, table.Vector)
}
