"""Bills, shares and reports."""
