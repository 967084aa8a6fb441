package embed_test

import (
	"claudemem/index"
	"claudemem/index/embed"
)

var _ index.Embedder = (*embed.Table)(nil)
