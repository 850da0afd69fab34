"""How runs travel: what a run needs, bundles (zip files), and the client of a site's upload API."""

from __future__ import annotations
