package index

import (
	"context"
	"strconv"
	"sync"

	"claudemem/sqlite"
)

// contentBytes bounds the memory for the words of documents: reading a
// document's row costs three times as much as scoring it. What repeats are mostly the
// documents of a query whose next page is asked for: at 100,000 observations searches were
// no faster with 8 MB.
const contentBytes = 3 << 20

// content is a row of contents.
type content struct {
	words, pieces []byte
}

// contentCache keeps rows of contents. A change of a document removes its row under
// the catalogue's lock; a reader that puts a row in has held that lock for reading
// since before it read the row. So no row is older than the catalogue.
type contentCache struct {
	mu    sync.Mutex
	rows  map[uint32]content
	bytes int
}

func (c content) size() int { return len(c.words) + len(c.pieces) + 64 }

// forget removes a document's row, if there is one.
func (c *contentCache) forget(document uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if row, ok := c.rows[document]; ok {
		c.bytes -= row.size()
		delete(c.rows, document)
	}
}

// get calls fn for the documents that are here and returns the others.
func (c *contentCache) get(documents []uint32, fn func(document uint32, row content)) (missing []uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range documents {
		if row, ok := c.rows[d]; ok {
			fn(d, row)
		} else {
			missing = append(missing, d)
		}
	}
	return missing
}

// put keeps a row; when there is no room any others make way.
func (c *contentCache) put(document uint32, row content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rows == nil {
		c.rows = map[uint32]content{}
	}
	if old, ok := c.rows[document]; ok {
		c.bytes -= old.size()
	}
	c.rows[document] = row
	c.bytes += row.size()
	for d, r := range c.rows { // in no order
		if c.bytes <= contentBytes {
			break
		}
		c.bytes -= r.size()
		delete(c.rows, d)
	}
}

// readContents calls fn with the words of documents, those that are in memory first.
func (b *base) readContents(ctx context.Context, documents []uint32, fn func(document uint32, row content) error) error {
	cache := &b.cat.contents
	rows := make([]content, 0, len(documents))
	numbers := make([]uint32, 0, len(documents))
	missing := cache.get(documents, func(d uint32, row content) {
		rows, numbers = append(rows, row), append(numbers, d)
	})
	for i, d := range numbers {
		if err := fn(d, rows[i]); err != nil {
			return err
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return b.read.each(ctx, "SELECT document, words, pieces FROM contents WHERE document IN (SELECT value FROM json_each(?))", func(scan sqlite.Scan) error {
		var d uint32
		var row content
		if err := scan(&d, &row.words, &row.pieces); err != nil {
			return err
		}
		cache.put(d, row)
		return fn(d, row)
	}, jsonList(missing))
}

// idList calls fn with each number of a list that group_concat has joined; errDamaged
// for anything else.
func idList(joined []byte, fn func(document uint32)) error {
	for len(joined) > 0 {
		end := 0
		n := uint32(0)
		for end < len(joined) && joined[end] >= '0' && joined[end] <= '9' {
			n = n*10 + uint32(joined[end]-'0')
			end++
		}
		if end == 0 || end > len(strconv.Itoa(1<<32-1)) {
			return errDamaged
		}
		fn(n)
		if end < len(joined) {
			end++ // the comma
		}
		joined = joined[end:]
	}
	return nil
}
