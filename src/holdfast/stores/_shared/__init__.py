"""What the backends have in common: rows and records, rows derived from a lesson, a lesson's words in other records."""
