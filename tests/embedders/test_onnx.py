"""The local ONNX embedder: on a tiny model built here where the extra is installed, and its errors everywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.embedders.onnx import fingerprint, make
from holdfast.errors import EmbedderError, InvalidValueError

WORDS = ["[UNK]", "[PAD]", "login", "test", "fails", "banana", "split"]
VECTORS = [[0.1, 0.1], [0.0, 0.0], [1.0, 0.0], [1.0, 0.1], [1.0, 0.2], [0.0, 1.0], [0.1, 1.0]]
OFFLINE = """
import sys
from holdfast.embedders.onnx import make
NETWORK = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto")
def refuse(event, args):
    if event in NETWORK: raise SystemExit(f"{event} {args}")
sys.addaudithook(refuse)
print(len(make({"path": sys.argv[1]}).embed_documents(["login test"])[0]))
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose only layer looks words up in a table."""
    pytest.importorskip("fastembed")
    onnx = pytest.importorskip("onnx")
    tokenizers = pytest.importorskip("tokenizers")
    folder = tmp_path_factory.mktemp("models") / "tiny"
    folder.mkdir()
    _save_table(onnx, folder / "model.onnx")
    words = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 32, "pad_token": "[PAD]"}))
    (folder / "config.json").write_text(json.dumps({"hidden_size": 2, "pad_token_id": 1}))
    (folder / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]", "unk_token": "[UNK]"}))
    return folder


def _save_table(onnx: Any, path: Path) -> None:
    numbers = [number for row in VECTORS for number in row]
    table = onnx.helper.make_tensor("table", onnx.TensorProto.FLOAT, [len(VECTORS), 2], numbers)
    ids = onnx.helper.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, ["b", "t"])
    mask = onnx.helper.make_tensor_value_info("attention_mask", onnx.TensorProto.INT64, ["b", "t"])
    out = onnx.helper.make_tensor_value_info("last_hidden_state", onnx.TensorProto.FLOAT, ["b", "t", 2])
    look = onnx.helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    graph = onnx.helper.make_graph([look], "tiny", [ids, mask], [out], [table])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), str(path))


def test_a_local_model_places_texts_without_any_network(model: Path) -> None:
    embedder = make({"path": str(model)})
    login, failing, banana = embedder.embed_documents(["login test", "test fails", "banana split"])
    assert embedder.dimension == 2
    assert sum(a * b for a, b in zip(login, failing, strict=True)) > 0.99
    assert sum(a * b for a, b in zip(login, banana, strict=True)) < 0.3
    assert abs(sum(number * number for number in login) - 1) < 1e-6


def test_two_embedders_of_one_model_share_its_id(model: Path) -> None:
    embedder, other = make({"path": str(model)}), make({"path": str(model) + "/"})
    assert embedder.id == other.id
    assert embedder.id.startswith("tiny@")
    assert embedder.embed_documents(["login"]) == other.embed_documents(["login"])


def test_a_wrong_dimension_is_an_error(model: Path) -> None:
    with pytest.raises(EmbedderError, match="2 numbers, not 3"):
        make({"path": str(model), "dimension": "3"}).embed_documents(["login"])


def test_a_model_that_is_none_is_an_error(model: Path, tmp_path: Path) -> None:
    for file in model.iterdir():
        (tmp_path / file.name).write_bytes(b"not a model" if file.suffix == ".onnx" else file.read_bytes())
    with pytest.raises(EmbedderError):
        make({"path": str(tmp_path)}).embed_documents(["login"])


def test_an_unknown_pooling_is_refused(model: Path) -> None:
    with pytest.raises(InvalidValueError, match="no pooling 'best'"):
        make({"path": str(model), "pooling": "best"})


def test_a_folder_without_a_model_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match=r"no model\.onnx") as caught:
        make({"path": str(tmp_path)})
    assert "path" in caught.value.hint


def test_without_the_extra_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.onnx").write_bytes(b"x")
    monkeypatch.setattr("holdfast.embedders.onnx.find_spec", lambda name: None)
    with pytest.raises(EmbedderError, match="not installed") as caught:
        make({"path": str(tmp_path)})
    assert "holdfast-memory[onnx]" in caught.value.hint


def test_without_a_model_the_error_says_how_to_get_one(model: Path) -> None:
    with pytest.raises(EmbedderError, match="no model") as caught:
        make({})
    assert "holdfast embedder pull" in caught.value.hint


def test_a_model_is_loaded_and_used_where_every_socket_is_refused(model: Path) -> None:
    done = subprocess.run([sys.executable, "-c", OFFLINE, str(model)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("2\n", 0), done.stderr


def test_a_changed_model_has_another_fingerprint(tmp_path: Path) -> None:
    file = tmp_path / "m"
    file.write_bytes(b"a" * 200_000)
    before = fingerprint(str(file))
    file.write_bytes(b"a" * 199_999 + b"b")
    assert len(before) == 12
    assert fingerprint(str(file)) != before
