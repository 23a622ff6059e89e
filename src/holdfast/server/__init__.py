"""`holdfast serve`: one ASGI application of REST, MCP and the pages, and the processes that run it.

It may touch: everything below. It alone knows several surfaces, and it is started by its name, so that nothing else
imports it: the command line, hooks and the MCP server of one person load no web server.

Begin with `application`. `config` is what can be set, `running` starts the processes, `gate` is what every request
passes, `slowness` cuts slow clients.
"""
