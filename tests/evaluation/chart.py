"""A bar chart in SVG, without a library: groups of bars, up to four in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Final

_WIDTH: Final = 760
_LABEL_WIDTH: Final = 120
_BAR_HEIGHT: Final = 13
_BAR_GAP: Final = 2
_GROUP_GAP: Final = 14
_TOP: Final = 58
_BOTTOM: Final = 14
_VALUE_WIDTH: Final = 44
_COLOURS: Final = ("#0072b2", "#e69f00", "#009e73", "#cc79a7")
"""Told apart with any common colour blindness (Okabe and Ito, 2008)."""


def bars(
    title: str,
    series: Sequence[str],
    groups: Mapping[str, Sequence[float]],
    *,
    length: Callable[[float], float] = lambda value: value,
    written: Callable[[float], str] = lambda value: f"{100 * value:.1f}",
) -> str:
    """An SVG document. ``groups`` hold a value for each of ``series``, at most four.

    ``length`` gives a bar's share of the width, from 0 to 1, and ``written`` what stands beside it.
    """
    group_height = len(series) * (_BAR_HEIGHT + _BAR_GAP) + _GROUP_GAP
    height = _TOP + len(groups) * group_height + _BOTTOM
    scale = _WIDTH - _LABEL_WIDTH - _VALUE_WIDTH
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img"'
        f' font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="10" y="20" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    for number, label in enumerate(series):
        x = 10 + number * 160
        parts.append(f'<rect x="{x}" y="32" width="12" height="12" fill="{_COLOURS[number]}"/>')
        parts.append(f'<text x="{x + 18}" y="42">{escape(label)}</text>')
    y = _TOP
    for label, values in groups.items():
        middle = y + (group_height - _GROUP_GAP) // 2 + 4
        parts.append(f'<text x="{_LABEL_WIDTH - 8}" y="{middle}" text-anchor="end">{escape(label)}</text>')
        for number, value in enumerate(values):
            width = round(length(value) * scale, 1)
            parts.append(
                f'<rect x="{_LABEL_WIDTH}" y="{y}" width="{width}" height="{_BAR_HEIGHT}"'
                f' fill="{_COLOURS[number]}"/>'
            )
            parts.append(f'<text x="{_LABEL_WIDTH + width + 5:.1f}" y="{y + 11}">{written(value)}</text>')
            y += _BAR_HEIGHT + _BAR_GAP
        y += _GROUP_GAP
    parts.append("</svg>")
    return "\n".join(parts) + "\n"
