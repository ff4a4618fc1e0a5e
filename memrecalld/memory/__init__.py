"""What a note is and where notes live: document, frontmatter, parsing, layouts, safe reading, scanning."""
