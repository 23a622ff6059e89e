"""The edges of the embedders: what is just inside, and what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.embedders.onnx import fingerprint
from holdfast.embedders.static import words_of
from holdfast.errors import EmbedderError

from .endpoint import EmbeddingServer, vector_of
from .test_remote import build


@pytest.mark.parametrize(("texts", "length"), [(1, 1_500_000), (3, 2_500_000)])
@pytest.mark.parametrize("more", [0, 1])
def test_an_answer_may_have_a_megabyte_and_half_a_megabyte_for_each_text(
    server: EmbeddingServer, texts: int, length: int, more: int
) -> None:
    """`_remote.ANSWER_BYTES` and `_remote.VECTOR_BYTES`."""
    rows = [{"index": number, "embedding": vector_of("a")} for number in range(texts)]
    server.faults.append(json.dumps({"data": rows}).encode().ljust(length + more))
    embedder = build(server, "openai_compatible")
    if more:
        with pytest.raises(EmbedderError, match=f"more than {length:,} bytes"):
            embedder.embed_documents(["a"] * texts)
    else:
        assert len(embedder.embed_documents(["a"] * texts)) == texts


@pytest.mark.parametrize(
    ("at", "is_seen"), [(65_535, True), (65_536, False), (-65_536, True), (-65_537, False)], ids=str
)
def test_both_ends_of_a_model_tell_its_revision(tmp_path: Path, at: int, is_seen: bool) -> None:
    """`onnx.SAMPLE`."""
    file = tmp_path / "model.onnx"
    content = bytearray(200_000)
    file.write_bytes(content)
    before = fingerprint(str(file))
    content[at] = 1
    file.write_bytes(content)
    assert (fingerprint(str(file)) != before) is is_seen


@pytest.mark.parametrize("code", [*range(32), 127])
def test_a_control_character_parts_no_words_unless_it_is_white_space(code: int) -> None:
    """`pieces.CONTROLS`."""
    assert words_of(f"tide{chr(code)}table") == (["tide", "table"] if code in (9, 10, 13) else ["tidetable"])
