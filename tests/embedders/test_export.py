"""The ONNX file made from a BERT encoder's weights answers what the encoder answers, here written out in numpy."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from math import erf
from pathlib import Path
from typing import Any

import pytest

HIDDEN, WIDE, HEADS, LAYERS, WORDS, PLACES = 8, 16, 2, 2, 11, 6
CONFIG = {
    "model_type": "bert", "hidden_act": "gelu", "hidden_size": HIDDEN, "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS, "layer_norm_eps": 1e-12,
}  # fmt: skip
SCRIPT = Path(__file__).parents[2] / "scripts" / "export_onnx.py"
np = pytest.importorskip("numpy")


def shapes() -> dict[str, tuple[int, ...]]:
    by_name: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (WORDS, HIDDEN),
        "embeddings.position_embeddings.weight": (PLACES, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        "embeddings.LayerNorm.weight": (HIDDEN,),
        "embeddings.LayerNorm.bias": (HIDDEN,),
    }
    for layer in range(LAYERS):
        parts = {f"attention.self.{part}": (HIDDEN, HIDDEN) for part in ("query", "key", "value")}
        parts |= {"attention.output.dense": (HIDDEN, HIDDEN), "intermediate.dense": (WIDE, HIDDEN)}
        parts |= {"output.dense": (HIDDEN, WIDE)}
        for part, shape in parts.items():
            by_name |= {f"encoder.layer.{layer}.{part}.weight": shape, f"encoder.layer.{layer}.{part}.bias": shape[:1]}
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            by_name |= {f"encoder.layer.{layer}.{part}.{end}": (HIDDEN,) for end in ("weight", "bias")}
    return by_name


def encode(tensors: dict[str, Any], ids: Any, mask: Any) -> Any:
    """Devlin et al. 2019, one step a line."""

    def dense(name: str, inputs: Any) -> Any:
        return inputs @ tensors[name + ".weight"].T + tensors[name + ".bias"]

    def norm(name: str, inputs: Any) -> Any:
        centred = inputs - inputs.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return scaled * tensors[name + ".weight"] + tensors[name + ".bias"]

    def split(inputs: Any) -> Any:
        return inputs.reshape(*ids.shape, HEADS, HIDDEN // HEADS).transpose(0, 2, 1, 3)

    gelu = np.vectorize(lambda x: x * 0.5 * (1 + erf(x / 2**0.5)))
    embedded = tensors["embeddings.word_embeddings.weight"][ids] + tensors["embeddings.token_type_embeddings.weight"][0]
    seen = norm("embeddings.LayerNorm", embedded + tensors["embeddings.position_embeddings.weight"][: ids.shape[1]])
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        query, key, value = (split(dense(f"{at}attention.self.{part}", seen)) for part in ("query", "key", "value"))
        fits = query @ key.transpose(0, 1, 3, 2) / (HIDDEN // HEADS) ** 0.5 + (1 - mask[:, None, None, :]) * -1e9
        shares = np.exp(fits - fits.max(-1, keepdims=True))
        mixed = (shares / shares.sum(-1, keepdims=True)) @ value
        mixed = mixed.transpose(0, 2, 1, 3).reshape(*ids.shape, HIDDEN)
        seen = norm(f"{at}attention.output.LayerNorm", seen + dense(f"{at}attention.output.dense", mixed))
        wide = gelu(dense(f"{at}intermediate.dense", seen))
        seen = norm(f"{at}output.LayerNorm", seen + dense(f"{at}output.dense", wide))
    return seen


def save(tensors: dict[str, Any], folder: Path) -> None:
    table, numbers = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.astype("<f4").tobytes()
        table[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [len(numbers), len(numbers) + len(raw)]}
        numbers += raw
    head = json.dumps({"__metadata__": {"format": "pt"}, **table}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + numbers)
    (folder / "config.json").write_text(json.dumps(CONFIG))


def test_the_exported_model_answers_as_the_encoder_does(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    chance = np.random.default_rng(7)
    tensors = {name: chance.normal(size=shape).astype(np.float32) for name, shape in shapes().items()}
    save(tensors, tmp_path)
    subprocess.run([sys.executable, str(SCRIPT), str(tmp_path)], check=True, capture_output=True)
    ids = np.array([[1, 5, 3, 2], [4, 2, 0, 0]])
    mask = np.array([[1, 1, 1, 1], [1, 1, 0, 0]])
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    (output,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    attended = mask.astype(bool)
    assert np.allclose(output[attended], encode(tensors, ids, mask)[attended], atol=1e-4)


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    save({}, tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({**CONFIG, "hidden_act": "relu"}))
    done = subprocess.run([sys.executable, str(SCRIPT), str(tmp_path)], check=False, capture_output=True, text=True)
    assert (done.returncode, "only BERT" in done.stderr) == (1, True)
