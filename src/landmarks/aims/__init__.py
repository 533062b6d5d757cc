"""Target and noise as they are given to `select`, and as files hold them."""

from .given import aimed, saved_aim, with_target

__all__ = ["aimed", "saved_aim", "with_target"]
