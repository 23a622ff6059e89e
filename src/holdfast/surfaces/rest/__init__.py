"""The REST interface `/v1`: one table of operations, and what turns its rows into HTTP.

`table` says what a row is; `operations` has the rows by subject; `call` is what an operation is called with; `kit`
receives requests, checks them by the table and answers; `openapi` and `page` describe the table. Only `kit`, `feed` and
`app` import Starlette.
"""
