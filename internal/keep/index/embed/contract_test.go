package embed_test

import (
	"claudemem/internal/keep/index"
	"claudemem/internal/keep/index/embed"
)

var _ index.Embedder = (*embed.Table)(nil)
