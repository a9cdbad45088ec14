"""This package itself."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    """As it is installed: master and workers must have the same."""
    try:
        return metadata.version("tailback-locust")
    except metadata.PackageNotFoundError:
        return "not installed"
