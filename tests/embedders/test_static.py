"""The static table: its pieces are BERT's, its vectors are what recall needs, and a wrong file is refused."""

from __future__ import annotations

import json
import threading
from hashlib import sha256
from math import isclose, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import plugins
from holdfast.embedders.static import (
    DIMENSION,
    KEPT_WORDS,
    LONGEST,
    LONGEST_WORD,
    SHA256,
    TABLE,
    StaticEmbedder,
    WordPieces,
    load_table,
    make,
    words_of,
)
from holdfast.errors import EmbedderError

GOLDEN = Path(__file__).parent.parent / "golden" / "embedders" / "static" / "pieces.json"
EMBEDDER = make({})
VOCABULARY = ["run", "##ning", "##s", "un", "##run"]
TINY = WordPieces(VOCABULARY)


def likeness(text: str, other: str) -> float:
    a, b = EMBEDDER.embed_documents([text, other])
    return sum(x * y for x, y in zip(a, b, strict=True))


def shipped_vocabulary() -> list[str]:
    content = Path(TABLE).read_bytes()
    start = content.index(b"\n") + 1
    rows, dimension = map(int, content[:start].split())
    return content[start + rows * (2 + dimension) :].decode("utf-8").split("\n")


def write_table(path: Path, rows: int = 2, vocabulary: str = "run\njump") -> str:
    content = b"%d %d\n" % (rows, DIMENSION)
    content += np.full(rows, 0.5, "<f2").tobytes() + np.arange(rows * DIMENSION).astype(np.int8).tobytes()
    path.write_bytes(content + vocabulary.encode())
    return sha256(path.read_bytes()).hexdigest()


class TestPieces:
    def test_they_are_those_of_berts_own_tokenizer_with_this_vocabulary(self) -> None:
        vocabulary = shipped_vocabulary()
        pieces = WordPieces(vocabulary)
        cases = json.loads(GOLDEN.read_text("utf-8"))
        assert cases
        for case in cases:
            assert [vocabulary[row] for row in pieces.cut(case["text"])[0]] == case["pieces"], case["text"]

    def test_the_longest_piece_goes_first(self) -> None:
        assert TINY.cut("running runs unrun") == ([0, 1, 0, 2, 3, 4], [])

    def test_a_word_that_pieces_cannot_make_is_strange_as_a_whole(self) -> None:
        assert TINY.cut("run runx x") == ([0], ["runx", "x"])

    def test_a_word_too_long_has_no_pieces(self) -> None:
        word = "run" + "s" * (LONGEST_WORD - 2)
        assert TINY.cut(word) == ([], [word])

    def test_identifiers_are_taken_apart(self) -> None:
        assert words_of("takeSnapshot HTTPServer snake_case v2") == [
            "take",
            "snapshot",
            "http",
            "server",
            "snake",
            "case",
            "v2",
        ]

    def test_ideographs_are_words_by_themselves(self) -> None:
        assert words_of("日本語 text") == ["日", "本", "語", "text"]

    def test_accents_case_punctuation_and_controls_do_not_matter(self) -> None:
        assert words_of("Caf\u00e9\u2026 na\u00efve\u200b!\0") == ["cafe", "naive"]

    def test_what_is_remembered_stays_bounded(self) -> None:
        pieces = WordPieces(["a"])
        for n in range(KEPT_WORDS + 10):
            pieces.cut(f"w{n}")
        assert len(pieces._known) <= KEPT_WORDS

    def test_the_shipped_vocabulary_holds_no_piece_twice_and_every_letter(self) -> None:
        vocabulary = shipped_vocabulary()
        assert len(vocabulary) == len(set(vocabulary))
        assert {*"abcdefghijklmnopqrstuvwxyz0123456789"} <= {*vocabulary}
        assert {"pytest", "async", "stderr"} <= {*vocabulary}


class TestVectors:
    def test_alike_in_meaning_is_nearer_than_alike_in_nothing(self) -> None:
        assert (
            likeness("the database is locked", "sqlite busy timeout")
            > likeness("the database is locked", "css grid") + 0.1
        )
        assert likeness("login fails", "users cannot sign in") > likeness("login fails", "sort the imports") + 0.1

    def test_the_shipped_table_is_used_and_named_by_its_checksum(self) -> None:
        assert sha256(Path(TABLE).read_bytes()).hexdigest() == SHA256
        assert EMBEDDER.id == f"holdfast-static@{SHA256[:12]}#{DIMENSION}"
        assert Path(TABLE).stat().st_size <= 8_000_000

    def test_it_is_a_plug_in_like_the_others_and_has_no_options(self) -> None:
        assert "static" in plugins.builtin_names("embedders")
        assert plugins.load("embedders", "static", {"dimension": "1"}).dimension == DIMENSION

    def test_no_texts_give_no_vectors(self) -> None:
        assert EMBEDDER.embed_documents([]) == []

    @pytest.mark.parametrize("text", ["", " \n", "\0", "...!?", "—", "\ud800", "🙂"])
    def test_a_text_without_words_has_a_direction_too(self, text: str) -> None:
        assert EMBEDDER.embed_documents([text]) == EMBEDDER.embed_documents([""])

    def test_unknown_words_are_like_themselves_and_like_nothing_else(self) -> None:
        assert likeness("привет", "привет") > 0.999
        assert abs(likeness("привет", "спасибо")) < 0.4
        assert abs(likeness("привет", "the database is locked")) < 0.4

    def test_cjk_texts_are_alike_as_far_as_they_share_characters(self) -> None:
        assert likeness("数据库锁定", "数据库") > likeness("数据库锁定", "网格布局") + 0.3

    def test_a_huge_text_is_cut(self) -> None:
        text = "login test " * LONGEST
        assert EMBEDDER.embed_documents([text]) == EMBEDDER.embed_documents([text[:LONGEST]])

    @given(st.text(max_size=300))
    def test_every_text_gets_a_unit_vector_and_always_the_same(self, text: str) -> None:
        [vector] = EMBEDDER.embed_documents([text])
        assert len(vector) == DIMENSION
        assert isclose(sqrt(sum(x * x for x in vector)), 1, abs_tol=1e-5)
        assert StaticEmbedder().embed_documents(["other", text])[1] == vector

    def test_threads_agree(self) -> None:
        embedder = StaticEmbedder()
        answers: list[list[list[float]]] = []
        threads = [
            threading.Thread(target=lambda: answers.append(embedder.embed_documents(["login test"]))) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 8
        assert all(answer == answers[0] for answer in answers)


class TestTable:
    def test_a_table_with_its_checksum_is_read(self, tmp_path: Path) -> None:
        file = tmp_path / "table.bin"
        table = load_table(str(file), write_table(file))
        assert table.codes.shape == (2, DIMENSION)
        assert table.pieces.cut("jump") == ([1], [])

    @pytest.mark.parametrize("damage", [b"", b"x", b"no table at all\n"])
    def test_a_damaged_table_is_refused(self, tmp_path: Path, damage: bytes) -> None:
        file = tmp_path / "table.bin"
        file.write_bytes(damage)
        with pytest.raises(EmbedderError, match="damaged") as caught:
            StaticEmbedder(str(file)).embed_documents(["x"])
        assert caught.value.hint

    def test_one_changed_byte_is_seen(self, tmp_path: Path) -> None:
        file = tmp_path / "table.bin"
        content = bytearray(Path(TABLE).read_bytes())
        content[4_000_000] ^= 1
        file.write_bytes(content)
        with pytest.raises(EmbedderError, match="damaged"):
            load_table(str(file))

    def test_a_missing_table_says_so_at_the_first_text(self, tmp_path: Path) -> None:
        embedder = StaticEmbedder(str(tmp_path / "gone.bin"))
        with pytest.raises(EmbedderError, match=r"gone\.bin"):
            embedder.embed_documents(["x"])
