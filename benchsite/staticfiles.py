"""Static files with hashed names, compressed once."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):
    """Hashes the names inside `import "./other.js"` too, which Django leaves alone by default."""

    support_js_module_import_aggregation = True
