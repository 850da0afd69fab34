"""Static files with hashed names, compressed once."""

from typing import Any

import brotli
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage


class QuickCompressor(Compressor):
    """Brotli at its highest takes most of a collection's time and saves a few hundredths."""

    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        return bytes(brotli.compress(data, quality=7))


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):
    """Hashes the names inside `import "./other.js"` too, which Django leaves alone by default.

    Source maps are no part of the site: what vendored files say about theirs is left as it stands.
    """

    support_js_module_import_aggregation = True
    patterns = (
        (
            "*.css",
            (
                r"""(?P<matched>url\(['"]{0,1}\s*(?P<url>.*?)["']{0,1}\))""",
                (r"""(?P<matched>@import\s*["']\s*(?P<url>.*?)["'])""", """@import url("%(url)s")"""),
            ),
        ),
    )

    def create_compressor(self, **options: Any) -> QuickCompressor:
        return QuickCompressor(**options)
