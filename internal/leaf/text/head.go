package text

// Head is a writer that keeps the first Max bytes of the output of another program and
// drops the rest.
type Head struct {
	Max  int
	kept []byte
}

// Write implements io.Writer. It never fails.
func (h *Head) Write(p []byte) (int, error) {
	h.kept = append(h.kept, p[:min(len(p), h.Max-len(h.kept))]...)
	return len(p), nil
}

// String returns the bytes that were kept.
func (h *Head) String() string { return string(h.kept) }
