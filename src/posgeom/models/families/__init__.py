"""Model families, one file each; `posgeom.models.registry` finds them by ``model_type``."""
