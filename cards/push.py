"""Uploading a folder to the Hugging Face Hub, and its refusals in plain words.

`HF_ENDPOINT`, `HF_TOKEN` and `HF_HUB_OFFLINE` are the client's, and hold here too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hannun.cards.upload import is_ours
from hannun.schemas.errors import IncompleteError, InputError

_LOGIN = "hf auth login (or set HF_TOKEN), with a token that may write"


def check_repo(repo: str) -> None:
    """Refuse a name that no repository of the Hub can have.

    Raises
    ------
    InputError
        It is not OWNER/NAME in the Hub's characters.
    """
    # Both are documented there, and not listed in its stubs.
    from huggingface_hub.utils import HFValidationError, validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(repo)
        valid = repo.count("/") == 1
    except HFValidationError:
        valid = False
    if not valid:
        raise InputError(
            "no name of a repository", expected="OWNER/NAME: letters, digits, - _ .", got=repo, todo="correct REPO"
        )


def push(folder: Path, repo: str, *, private: bool, revision: str | None, message: str) -> str:
    """Upload a folder as a dataset repository, in one commit; the commit's address.

    The repository is made where it is not there, and so is the branch `revision`. What an earlier upload left and
    this one does not have is deleted; files of others stay.

    Raises
    ------
    InputError
        No token, no right, no such owner, a card that the Hub refuses, or a public repository where a private
        one is asked for.
    IncompleteError
        The Hub cannot be reached, or does not answer well.
    """
    from huggingface_hub import HfApi, get_token
    from huggingface_hub.constants import HF_HUB_OFFLINE

    if HF_HUB_OFFLINE:
        raise InputError("the Hub is not to be asked", got="HF_HUB_OFFLINE is set", todo="unset HF_HUB_OFFLINE")
    if get_token() is None:
        raise InputError("no token: nobody may upload without one", todo=_LOGIN)
    api = HfApi()
    with _explained(repo, revision):
        api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        if private and not api.repo_info(repo, repo_type="dataset").private:
            raise InputError(
                f"{repo} is there, and is public",
                todo="make it private on its page, choose another REPO, or leave --private out",
            )
        if revision is not None and not revision.startswith("refs/"):
            api.create_branch(repo, repo_type="dataset", branch=revision, exist_ok=True)
        there = api.list_repo_files(repo, repo_type="dataset", revision=revision)
        commit = api.upload_folder(
            repo_id=repo,
            repo_type="dataset",
            folder_path=folder,
            revision=revision,
            commit_message=message,
            delete_patterns=[path for path in there if is_ours(path)] or None,
        )
    return str(commit.commit_url)


@contextmanager
def _explained(repo: str, revision: str | None) -> Iterator[None]:
    """What the Hub or the way to it refuses, as an error that says what to do."""
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        LocalTokenNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        yield
    except LocalTokenNotFoundError:
        raise InputError("no token: nobody may upload without one", todo=_LOGIN) from None
    except GatedRepoError as error:
        todo = "accept its terms on its page with the account of your token, then run again"
        raise InputError(f"{repo} is gated", got=_first_line(error), todo=todo) from None
    except RevisionNotFoundError as error:
        todo = "correct --revision"
        raise InputError(f"{repo} has no revision {revision}", got=_first_line(error), todo=todo) from None
    except RepositoryNotFoundError as error:
        # The Hub answers alike where there is nothing and where this token may see nothing.
        raise InputError(f"no {repo} that this token may see", got=_first_line(error), todo=_LOGIN) from None
    except HfHubHTTPError as error:
        raise _refusal(repo, error) from None
    except OfflineModeIsEnabled as error:
        raise InputError("the Hub is not to be asked", got=_first_line(error), todo="unset HF_HUB_OFFLINE") from None
    except ValueError as error:
        # The Hub looks at the card before it takes a commit.
        raise InputError(
            f"the Hub refuses what is uploaded to {repo}",
            got=_first_line(error),
            todo="correct the card: hannun card DIR",
        ) from None
    except Exception as error:
        if not _is_of_the_network(error):
            raise
        raise IncompleteError(
            "the Hub cannot be reached", got=_first_line(error), todo="check HF_ENDPOINT and the network; run again"
        ) from None


def _refusal(repo: str, error: Exception) -> InputError | IncompleteError:
    status = getattr(getattr(error, "response", None), "status_code", None)
    got = f"{status}: {_first_line(error)}"
    if status == 401:
        return InputError("the Hub does not know this token", got=got, todo=_LOGIN)
    if status == 403:
        todo = f"is {repo.partition('/')[0]} you or an organisation of yours, and may the token write? {_LOGIN}"
        return InputError(f"this token may not write to {repo}", got=got, todo=todo)
    if status is not None and 400 <= status < 500 and status not in (408, 429):
        return InputError(f"the Hub refuses what is uploaded to {repo}", got=got, todo="correct what it says")
    return IncompleteError("the Hub does not answer well", got=got, todo="run the same command again later")


def _is_of_the_network(error: BaseException) -> bool:
    """Whether an error is the network's; which package raises it depends on the client's version."""
    packages = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return isinstance(error, OSError) or bool(packages & {"httpx", "httpx2", "httpcore", "requests", "urllib3"})


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:200] or type(error).__name__
