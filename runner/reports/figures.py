"""Numbers as text output writes them: the command line, Markdown and the gate."""

from __future__ import annotations


def number(value: float) -> str:
    """Four significant digits in plain notation: 0.6667, 12.5, 1,235, 20,000; whole above a thousand."""
    return f"{value:,.0f}" if abs(value) >= 999.95 else f"{value:.4g}"
