"""All cases of the suite."""

from . import documents, environment, escapes, files, output, processes, recordings, schemas, servers, signals, start

MODULES = (processes, output, files, start, environment, signals, schemas, recordings, documents, servers, escapes)
ALL = [case for module in MODULES for case in module.CASES]
NAMES = [case.name for case in ALL]
assert len(set(NAMES)) == len(NAMES), f"duplicate names: {sorted(n for n in NAMES if NAMES.count(n) > 1)}"
