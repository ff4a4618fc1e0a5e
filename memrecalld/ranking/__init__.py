"""What matches a query, and in which order: pure functions over documents, without input or output."""
