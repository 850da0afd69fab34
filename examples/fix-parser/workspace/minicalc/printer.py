"""A tree back to text, with as few parentheses as it can."""

from minicalc.nodes import Call, Name, Negative, Number


def to_text(tree):
    return _text(tree, 0)


def _text(tree, around):
    if isinstance(tree, Number):
        return f"{tree.value:g}"
    if isinstance(tree, Name):
        return tree.name
    if isinstance(tree, Call):
        return f"{tree.function}({', '.join(to_text(argument) for argument in tree.arguments)})"
    if isinstance(tree, Negative):
        return _wrapped(f"-{_text(tree.operand, 3)}", 3, around)
    level = _level(tree.operator)
    from_right = tree.operator == "^"
    left = _text(tree.left, level + 1 if from_right else level)
    right = _text(tree.right, level if from_right else level + 1)
    return _wrapped(f"{left} {tree.operator} {right}", level, around)


def _level(operator):
    if operator in ("+", "-"):
        return 1
    elif operator in ("*", "/"):
        return 2
    return 4


def _wrapped(text, level, around):
    return f"({text})" if level < around else text
