"""Tables and figures of the papers, reproduced through surefoot's public names: `python -m reproduction`.

Each experiment is a module with one function `run(out, *, quick)`: it writes its tables and figures into the folder
`out`, and returns its results as text.
"""
