"""README.md and the sample picture in a built folder: written, and compared with what is due."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from hannun.builders.folder import README, SAMPLE
from hannun.builders.head import GENERATED, Part, Stale, front_matter, read_head, stale_head
from hannun.cards.card import body, card
from hannun.cards.facts import CardFacts
from hannun.cards.sample import same_picture
from hannun.schemas.errors import InputError
from hannun.schemas.text_file import lines_of, read_text, write_whole

OWN_TEXT = "<!-- hannun: what stands below this line is yours, and is kept -->"
_ROOM = 200


@dataclass(frozen=True)
class Own:
    """What of a card is its owner's: keys of the front matter that are not generated, and the text below `OWN_TEXT`."""

    keys: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""


def own_parts(folder: Path) -> Own:
    """What the owner added to the card of a folder; nothing where there is no card, and no keys of a broken head."""
    path = folder / README
    if not path.is_file():
        return Own()
    text = _text(path)
    try:
        head, _ = read_head(text, str(path))
    except InputError:
        head = {}
    _, _, own = text.partition(OWN_TEXT)
    return Own({key: value for key, value in head.items() if key not in GENERATED}, own.strip("\n"))


def write_card(folder: Path, facts: CardFacts, own: Own) -> None:
    """Write README.md and the sample picture, with what is the owner's."""
    if facts.picture is not None:
        write_whole(folder / SAMPLE, facts.picture)
    else:
        (folder / SAMPLE).unlink(missing_ok=True)
    text = f"\n{OWN_TEXT}\n" + (f"\n{own.text}\n" if own.text else "")
    write_whole(folder / README, card(facts, own.keys, text).encode())


def stale_parts(folder: Path, facts: CardFacts) -> list[Stale]:
    """What the card says otherwise than the folder; none when it is up to date."""
    if not (folder / README).is_file():
        return [Stale(README, "not there", "due", Part.LOADING)]
    try:
        head, rest = read_head(_text(folder / README), README)
    except InputError as error:
        return [Stale("front matter", error.got or error.what, "YAML between two lines of ---", Part.LOADING)]
    due = front_matter(facts.benchmark, facts.tables, facts.lock)
    generated, _, _ = rest.partition(OWN_TEXT)
    return [*stale_head(head, due), *_stale_body(generated, body(facts)), *_stale_picture(folder, facts)]


def _text(path: Path) -> str:
    return "\n".join(lines_of(read_text(path).text)) + "\n"


def _stale_body(card_text: str, due_text: str) -> Iterator[Stale]:
    said, due = _sections(card_text), _sections(due_text)
    for heading in [*due, *(each for each in said if each not in due)]:
        if heading not in said:
            yield Stale(f"section {heading}", "not there", "due")
        elif heading not in due:
            yield Stale(f"section {heading}", "there", "not due: text of your own goes below the generated part")
        else:
            for card_lines, due_lines in _differing(said[heading], due[heading]):
                yield Stale(f"section {heading}", card_lines, due_lines)
    if list(said) != list(due) and said.keys() == due.keys():
        yield Stale("order of sections", ", ".join(said), ", ".join(due))


def _sections(text: str) -> dict[str, list[str]]:
    """Heading -> its lines that are not blank; what stands before the first one under ``.

    A heading that comes again is numbered; lines of code are no headings.
    """
    found: dict[str, list[str]] = {}
    current = found.setdefault("(top)", [])
    in_code = False
    for line in text.split("\n"):
        in_code ^= line.startswith("```")
        if line.startswith("#") and not in_code:
            name = heading = line.lstrip("#").strip()
            count = 1
            while name in found:
                count += 1
                name = f"{heading} ({count})"
            current = found.setdefault(name, [])
        elif line.strip():
            current.append(line.rstrip())
    return found


def _differing(said: list[str], due: list[str]) -> Iterator[tuple[str, str]]:
    for kind, a, b, c, d in SequenceMatcher(None, said, due, autojunk=False).get_opcodes():
        if kind != "equal":
            # Lines of a table are named one by one.
            pairs = (
                zip(said[a:b], due[c:d], strict=True) if b - a == d - c else [(" ".join(said[a:b]), " ".join(due[c:d]))]
            )
            yield from ((_short(one), _short(other)) for one, other in pairs)


def _short(text: str) -> str:
    return (text if len(text) <= _ROOM else text[: _ROOM - 1] + "…") or "nothing"


def _stale_picture(folder: Path, facts: CardFacts) -> Iterator[Stale]:
    path = folder / SAMPLE
    there = path.read_bytes() if path.is_file() else None
    if facts.picture is None:
        if there is not None:
            yield Stale("sample picture", "there", f"not to be shown: {facts.sample.why_not}")
    elif there is None:
        yield Stale("sample picture", "not there", f"due: {SAMPLE}")
    elif not same_picture(there, facts.picture):
        yield Stale("sample picture", "shows something else", "the pictures of the rows that the card names")
