"""Instants as records write them: UTC, ISO 8601, seconds, ending in Z."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """The present instant, as `2026-01-31T12:00:00Z`."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
