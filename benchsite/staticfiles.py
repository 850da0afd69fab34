"""Static files with hashed names, compressed once."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


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
