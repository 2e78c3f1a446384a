"""Row ids by what prediction files call them."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from functools import cached_property

from hannun.schemas.errors import InputError
from hannun.schemas.instance import config_of


class RowNames:
    """Finds the row that a file means: by its id, `benchmark/config/item`, or by the item alone where that is plain.

    Parameters
    ----------
    row_ids
        Ids of the data set's rows.
    """

    def __init__(self, row_ids: Collection[str]) -> None:
        self._ids = row_ids

    @cached_property
    def _by_item(self) -> dict[str, list[str]]:
        by_item: dict[str, list[str]] = {}
        for row_id in self._ids:
            by_item.setdefault(item_of(row_id), []).append(row_id)
        return by_item

    def row_id(self, name: str, where: str, config: str | None = None) -> str:
        """The id of the row that a file means.

        Parameters
        ----------
        config
            The row's config, where the file says it.

        Raises
        ------
        InputError
            The data set has no such row, or several.
        """
        if name in self._ids:
            return name
        found = [each for each in self._by_item.get(name, ()) if config is None or config_of(each) == config]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(
                "the id does not say which config is meant",
                where=where,
                expected=" or ".join(found),
                got=name,
                todo="give the whole id, or the field `config`",
            )
        near = difflib.get_close_matches(name, [*self._ids, *self._by_item], n=1)
        raise InputError(
            "no such row in the data set",
            where=where,
            expected=f"an id such as {near[0] if near else next(iter(self._ids), '')}",
            got=name if config is None else f"{name} of {config}",
            todo="check that predictions and data belong together",
        )


def item_of(row_id: str) -> str:
    """The item of an id `benchmark/config/item`, which configs share."""
    return row_id.rpartition("/")[2]
