"""Serves the pages by HTTP: routes from the tables of `pages`, HTML or JSON at the same address, forms and messages.

`app` is the application, `entrance` says who may enter, `local` lets in one person over their own file (`holdfast ui`).
"""
