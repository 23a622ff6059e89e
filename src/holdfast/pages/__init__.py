"""Makes the pages that people look at: `make(view, query)` answers a template and a record, which is also the JSON.

It may touch: `bootstrap`, `reports`, `rendering` and below, and Jinja; no web server and nothing behind a port.
Begin with `table` (every page and action), then `view` (what a page may ask) and `frame` (templates and filters).
"""
