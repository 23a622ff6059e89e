"""What importers share, also those of other distributions: texts of other programs, and markdown as passages."""
