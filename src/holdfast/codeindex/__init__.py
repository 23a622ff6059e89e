"""The structure of code: definitions, imports, and whether what a lesson is about is still as it was."""
