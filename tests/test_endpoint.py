"""The endpoint's client against a real server on loopback: slow, busy, rude, broken."""

from __future__ import annotations

import base64
import io
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from chat_server import Chat, Trouble, chatting, error
from hannun.evaluation.models.endpoint import ATTEMPTS, Address, Endpoint, EndpointError
from hannun.evaluation.reply import Refused, Reply, Turn, Unreached
from hannun.evaluation.sampling import Sampling
from hannun.schemas.errors import InputError
from pictures import jpeg, png
from PIL import Image

GREEDY = Sampling(0.0, 1.0, 64)


@pytest.fixture
def chat() -> Iterator[Chat]:
    with chatting(lambda text, _: f"echo {text}") as served:
        yield served


def endpoint(
    chat: Chat, *, at_once: int = 4, key: str | None = None, deadline: float = 20.0, side: int = 2048
) -> Endpoint:
    return Endpoint(Address.of(chat.address, key, deadline), "m", at_once=at_once, side=side)


def ask(client: Endpoint, *texts: str, sampling: Sampling = GREEDY, pictures: tuple[bytes, ...] = ()) -> dict[str, Any]:
    turns = [(text, Turn(text, pictures)) for text in texts]
    done = list(client.answers(iter(turns), sampling))
    assert sorted(each.key for each in done) == sorted(texts), "each turn comes back once"
    assert all(each.seconds >= 0 for each in done)
    return {each.key: each.value for each in done}


def test_replies_belong_to_their_turns_and_several_run_at_a_time(chat: Chat) -> None:
    chat.trouble = lambda _text, _times: Trouble(seconds=0.05)
    texts = [f"질문 {number}" for number in range(12)]
    assert ask(endpoint(chat), *texts) == {text: Reply(f"echo {text}", server="m-2026-11-01, fp_1") for text in texts}
    assert 2 <= chat.most_at_once <= 4
    assert set(chat.replied.values()) == {1}


def test_turns_are_taken_as_they_are_needed(chat: Chat) -> None:
    taken: list[int] = []

    def turns() -> Iterator[tuple[int, Turn]]:
        for number in range(100):
            taken.append(number)
            yield number, Turn(str(number))

    replies = endpoint(chat, at_once=2).answers(turns(), GREEDY)
    next(replies)
    assert len(taken) <= 4
    replies.close()
    assert len(taken) <= 4


@pytest.mark.parametrize(
    "trouble",
    [
        error(429, "slow down", **{"Retry-After": "0"}), error(503, "loading"), error(500, "oops"), error(502, "bad gateway"),
        Trouble(408), Trouble(cut=True), Trouble(200, "<html>proxy</html>"), Trouble(200, ""), Trouble(200, '{"choices": []}'),
        Trouble(200, '{"choices": [{"message": null}]}'), Trouble(200, '{"error": {"message": "overloaded"}}'),
        Trouble(200, '{"choices": [{"message": {"content": "half'),
    ],
    ids=lambda each: f"{each.status}-{'cut' if each.cut else (each.body or '')[:24]}",
)  # fmt: skip
def test_what_may_change_is_asked_again_until_it_comes(chat: Chat, trouble: Trouble, patient: None) -> None:
    chat.trouble = lambda _text, times: trouble if times < 3 else None
    assert ask(endpoint(chat), "a", "b")["a"].text == "echo a"
    assert chat.tries == {"a": 3, "b": 3}
    assert chat.replied == {"a": 1, "b": 1}


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits of hundredths in place of seconds."""
    from hannun.evaluation.models import endpoint as module
    from hannun.reconstruct.decide import decide

    monkeypatch.setattr(module, "decide", lambda *a, **k: decide(*a, **k, first_wait=0.01))


def test_what_does_not_come_in_the_end_is_left_for_a_later_run(chat: Chat, patient: None) -> None:
    chat.trouble = lambda text, _: error(503, "loading") if text == "b" else None
    replies = ask(endpoint(chat), "a", "b", "c")
    assert replies["b"] == Unreached("503: loading")
    assert replies["a"].text == "echo a"
    assert chat.tries["b"] == ATTEMPTS


def test_retry_after_holds_every_request_back(chat: Chat) -> None:
    chat.trouble = lambda text, times: error(429, "wait", **{"Retry-After": "1"}) if (text, times) == ("a", 1) else None
    replies = ask(endpoint(chat, at_once=1), "a", "b")
    assert {each.text for each in replies.values()} == {"echo a", "echo b"}
    assert chat.times[1] - chat.times[0] >= 0.95


def test_a_wait_of_minutes_is_left_for_a_later_run(chat: Chat) -> None:
    chat.trouble = lambda _text, _times: error(429, "tomorrow", **{"Retry-After": "3600"})
    [reply] = ask(endpoint(chat), "a").values()
    assert isinstance(reply, Unreached)
    assert "3600 s" in reply.why
    assert len(chat.asked) == 1


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (error(401, "Incorrect API key"), "401: Incorrect API key"), (error(404, "no model m"), "404: no model m"),
        (error(403, "forbidden"), "403"), (error(429, "You exceeded your quota", "insufficient_quota"), "quota"),
        (Trouble(302, "", {"Location": "http://elsewhere.invalid/"}), "302"),
    ],
)  # fmt: skip
def test_what_holds_for_every_request_ends_the_run(chat: Chat, trouble: Trouble, said: str) -> None:
    chat.trouble = lambda _text, _times: trouble
    with pytest.raises(EndpointError, match=said):
        ask(endpoint(chat, at_once=1), *map(str, range(20)))
    assert len(chat.asked) <= 2


def test_one_turn_may_be_refused_for_good(chat: Chat) -> None:
    chat.trouble = lambda text, _: error(400, "content filter") if text == "b" else None
    replies = ask(endpoint(chat), "a", "b")
    assert replies["b"] == Refused("400: content filter")
    assert replies["a"].text == "echo a"
    assert chat.tries["b"] == 1


def test_another_name_for_the_most_tokens_is_taken_up(chat: Chat) -> None:
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    chat.trouble = lambda _text, _times: error(400, said) if "max_tokens" in chat.asked[-1] else None
    assert ask(endpoint(chat, at_once=1), "a", "b")["b"].text == "echo b"
    assert [next(name for name in body if name.startswith("max_")) for body in chat.asked] == [
        "max_tokens", "max_completion_tokens", "max_completion_tokens",
    ]  # fmt: skip


def test_a_reply_that_drips_ends_at_the_deadline(chat: Chat, patient: None) -> None:
    chat.trouble = lambda _text, times: Trouble(seconds=3.0) if times == 1 else None
    begun = time.monotonic()
    [reply] = ask(endpoint(chat, deadline=0.5), "a").values()
    assert reply.text == "echo a"
    assert time.monotonic() - begun < 3.0


def test_the_end_at_the_most_tokens_is_told(chat: Chat) -> None:
    chat.finish = "length"
    assert ask(endpoint(chat), "a")["a"].cut


@pytest.mark.parametrize(
    ("message", "text"),
    [({"content": None}, ""), ({"content": None, "refusal": "I cannot."}, "I cannot."),
     ({"content": [{"type": "text", "text": "parts"}]}, "parts"), ({"content": "half \ud83d"}, "half ?")],
)  # fmt: skip
def test_forms_of_content(chat: Chat, message: dict[str, Any], text: str) -> None:
    body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]})
    chat.trouble = lambda _text, _times: Trouble(200, body)
    assert ask(endpoint(chat), "a")["a"].text == text


def test_sampling_is_sent_where_it_matters(chat: Chat) -> None:
    ask(endpoint(chat), "a")
    ask(endpoint(chat), "b", sampling=Sampling(0.6, 0.95, 4096, 7))
    greedy, sampled = (
        {name: body.get(name) for name in ("temperature", "top_p", "max_tokens", "seed")} for body in chat.asked
    )
    assert greedy == {"temperature": 0.0, "top_p": None, "max_tokens": 64, "seed": None}
    assert sampled == {"temperature": 0.6, "top_p": 0.95, "max_tokens": 4096, "seed": 7}


def test_the_key_goes_into_the_header_alone(chat: Chat, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password other\n", "utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    client = endpoint(chat, key="sk-secret")
    ask(client, "a")
    assert chat.headers[0]["Authorization"] == "Bearer sk-secret"
    assert "secret" not in repr(client.address)
    chat.trouble = lambda _text, _times: error(401, "wrong key")
    with pytest.raises(EndpointError) as refused:
        ask(client, "b")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    ["localhost:8000/v1", "ftp://host/v1", "http://", "http://me:secret@host/v1", "https://host/v1?key=secret", ""],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InputError) as refused:
        Address.of(address, None, 1.0)
    assert "secret" not in str(refused.value)


def test_a_key_that_no_header_holds_is_refused() -> None:
    with pytest.raises(InputError):
        Address.of("http://host/v1", "sk-\n", 1.0)


def test_whole_addresses_are_taken_too(chat: Chat) -> None:
    client = Endpoint(Address.of(f"{chat.address}/chat/completions", None, 5.0), "m", at_once=1, side=64)
    assert ask(client, "a")["a"].text == "echo a"


def _sent(chat: Chat) -> Image.Image:
    part = next(part for part in chat.asked[-1]["messages"][0]["content"] if part["type"] == "image_url")
    head, data = part["image_url"]["url"].split(",", 1)
    assert head == f"data:image/{Image.open(io.BytesIO(base64.b64decode(data))).format.lower()};base64"
    return Image.open(io.BytesIO(base64.b64decode(data)))


def test_a_plain_picture_is_sent_as_its_own_bytes(chat: Chat) -> None:
    data = jpeg((200, 10, 10), (40, 30), 90)
    ask(endpoint(chat), "a", pictures=(data,))
    url = chat.asked[-1]["messages"][0]["content"][0]["image_url"]["url"]
    assert base64.b64decode(url.split(",", 1)[1]) == data


@pytest.mark.parametrize("kind", ["upright", "large", "see-through", "moving", "cut"])
def test_other_pictures_are_sent_as_a_person_sees_them(chat: Chat, kind: str) -> None:
    buffer = io.BytesIO()
    picture = Image.new("RGB", (60, 20), (200, 10, 10))
    if kind == "upright":
        exif = Image.Exif()
        exif[0x0112] = 6
        picture.save(buffer, "JPEG", exif=exif)
    elif kind == "large":
        picture.resize((300, 100)).save(buffer, "PNG")
    elif kind == "see-through":
        Image.new("RGBA", (60, 20), (0, 0, 0, 0)).save(buffer, "PNG")
    elif kind == "moving":
        picture.save(buffer, "GIF", save_all=True, append_images=[Image.new("RGB", (60, 20), "blue")])
    else:
        Image.effect_noise((60, 20), 80).convert("RGB").save(buffer, "JPEG")
    data = buffer.getvalue()
    ask(endpoint(chat, side=100), "a", pictures=(data[:-40] if kind == "cut" else data,))
    sent = _sent(chat)
    assert sent.format == "PNG"
    expected = {"upright": (20, 60), "large": (100, 33)}.get(kind, (60, 20))
    assert sent.size == expected
    if kind == "see-through":
        assert sent.convert("RGB").getpixel((5, 5)) == (255, 255, 255)


def test_what_is_no_picture_is_refused_alone(chat: Chat) -> None:
    turns = [("a", Turn("a", (b"<html>",))), ("b", Turn("b", (png((1, 2, 3), (8, 8)),)))]
    replies = {each.key: each.value for each in endpoint(chat).answers(turns, GREEDY)}
    assert isinstance(replies["a"], Refused)
    assert "html" in replies["a"].why
    assert replies["b"].text == "echo b"


def test_no_thread_goes_on_after_the_run(chat: Chat) -> None:
    before = threading.active_count()
    ask(endpoint(chat), "a", "b")
    deadline = time.monotonic() + 5
    while threading.active_count() > before + 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert sum("work" in each.name for each in threading.enumerate()) == 0


def test_certificates_are_checked(tmp_path: Any) -> None:
    import http.server
    import ssl

    import trustme

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = Endpoint(
        Address.of(f"https://127.0.0.1:{server.server_address[1]}/v1", None, 5.0), "m", at_once=1, side=64
    )
    with pytest.raises(EndpointError, match="certificate"):
        ask(client, "a")
    server.shutdown()
    server.server_close()
