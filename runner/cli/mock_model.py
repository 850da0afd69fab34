from __future__ import annotations

from argparse import Namespace


def command(options: Namespace) -> int:
    """Serve until interrupted; the address is the first line, so that a script can read it."""
    from runner.mock_model import MockModel, load_functions

    functions = load_functions(options.functions) if options.functions else None
    model = MockModel(options.script, options.port, functions)
    print(model.url, flush=True)
    model.serve()
    return 0
