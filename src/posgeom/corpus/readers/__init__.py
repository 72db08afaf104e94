"""One reader per file format: each turns an open stream into batches of documents."""
