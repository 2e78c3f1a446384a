"""The Hugging Face Hub: files of a dataset repository, through its own client and cache.

`HF_ENDPOINT`, `HF_TOKEN`, `HF_HUB_OFFLINE` and `HF_HOME` are the client's, and hold here too.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from pathlib import Path

from hannun.reconstruct.source import Got
from hannun.reconstruct.transfer import Failed
from hannun.schemas.catalogue import SourceEntry
from hannun.schemas.outcome import Outcome


def hub_files(entry: SourceEntry, revision: str | None = None) -> Got:
    """The files of a source on the Hub, in the client's cache, and the commit they are of.

    Parameters
    ----------
    revision
        A branch, tag or commit; the repository's newest one when None.

    Returns
    -------
    The file where `entry.files` names one, else the folder of the files that fit it.

    Raises
    ------
    Failed
        `refused`: gated, or no right to see it. `gone`: no such repository, revision or file. `unreachable`:
        the Hub cannot be reached, or is not to be, and the cache does not have it.
    """
    assert entry.repo is not None
    assert entry.files is not None
    folder = snapshot(entry.repo, [entry.files], revision)
    # The client's patterns, in which * takes a slash too.
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and fnmatch.fnmatch(path.relative_to(folder).as_posix(), entry.files)
    )
    if not found:
        raise Failed(Outcome.GONE, f"{entry.repo} has no {entry.files}", todo=f"look at {_page(entry.repo)}/tree/main")
    return Got(found[0] if "*" not in entry.files else folder, folder.name)


def snapshot(repo: str, patterns: Sequence[str], revision: str | None = None) -> Path:
    """The folder of a dataset repository's files that fit the patterns, in the client's cache, named by its commit.

    Raises
    ------
    Failed
        As `hub_files` says.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    page = _page(repo)
    try:
        return Path(snapshot_download(repo, repo_type="dataset", revision=revision, allow_patterns=list(patterns)))
    except GatedRepoError:
        todo = f"accept its terms at {page}, then: hf auth login (or set HF_TOKEN)"
        raise Failed(Outcome.REFUSED, f"{repo} is gated", todo=todo) from None
    except RepositoryNotFoundError:
        todo = f"look at {page}; where it is private or gated: hf auth login (or set HF_TOKEN)"
        raise Failed(Outcome.GONE, f"no dataset {repo} that may be seen", todo=todo) from None
    except RevisionNotFoundError:
        todo = f"look at {page}/commits"
        raise Failed(Outcome.GONE, f"{repo} has no revision {revision}", todo=todo) from None
    except (LocalEntryNotFoundError, OfflineModeIsEnabled, EntryNotFoundError) as error:
        todo = "connect to the network, unset HF_HUB_OFFLINE, or give the files yourself"
        raise Failed(Outcome.UNREACHABLE, _first_line(error), todo=todo) from None
    except (HfHubHTTPError, OSError) as error:
        raise Failed(Outcome.UNREACHABLE, _first_line(error), todo="run the same command again later") from None


def _page(repo: str) -> str:
    return f"https://huggingface.co/datasets/{repo}"


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200] or type(error).__name__
