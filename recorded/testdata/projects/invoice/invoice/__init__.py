"""Invoice totals."""
