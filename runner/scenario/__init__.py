"""How a scenario speaks: the verbs, the handles it is given, and the process that runs it."""
