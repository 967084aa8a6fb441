package store

import (
	"cmp"
	"context"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/keep/store/books"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/keep/store/upkeep"
)

// Store is an open memory.db with all its rooms.
type Store struct {
	*db.DB
	*records.Records
	*books.Keeper
	*accounts.Accounts
	*care.Care
	*upkeep.Upkeep
}

// Options are what a store takes from outside; zero fields take the default.
type Options = db.Options

// Open opens the database at path for the worker, as [db.Open] does, with a bookkeeper.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	opts.Books = cmp.Or(opts.Books, books.NewBookkeeper())
	d, err := db.Open(ctx, path, opts)
	return over(d, err)
}

// OpenReadOnly opens the database at path for a process that is not the worker, as
// [db.OpenReadOnly] does.
func OpenReadOnly(ctx context.Context, path string) (*Store, error) {
	d, err := db.OpenReadOnly(ctx, path)
	return over(d, err)
}

// over returns the rooms over an open database.
func over(d *db.DB, err error) (*Store, error) {
	if err != nil {
		return nil, err
	}
	r := records.New(d)
	return &Store{DB: d, Records: r, Keeper: books.New(r), Accounts: accounts.New(d), Care: care.New(r), Upkeep: upkeep.New(r)}, nil
}
