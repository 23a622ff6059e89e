"""Writes `model.onnx` beside a BERT sentence encoder's `model.safetensors`, without torch and without a network.

    python scripts/export_onnx.py FOLDER

For models such as all-MiniLM-L6-v2 whose ONNX file cannot be downloaded. FOLDER holds `config.json` and
`model.safetensors`; the graph answers `last_hidden_state`, and is checked to be sound. Needs `onnx` and `numpy`.
Source: Devlin et al. 2019 (post-norm encoder, GELU by the error function); the safetensors format's own description.
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET, IR_VERSION = 17, 8
MASKED = -1e9
"""Added to the attention of padding."""


def main() -> int:
    """0 when the file was written."""
    folder = Path(sys.argv[1])
    graph = _Graph(_load(folder / "model.safetensors"), json.loads((folder / "config.json").read_text()))
    onnx.save(graph.model(), str(folder / "model.onnx"))
    onnx.checker.check_model(str(folder / "model.onnx"))
    print(folder / "model.onnx")
    return 0


def _load(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """The file's 32-bit tensors: eight bytes of length, a JSON table, then the numbers."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    table = json.loads(content[8 : 8 + length])
    tensors = {}
    for name, entry in table.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = (8 + length + at for at in entry["data_offsets"])
            tensors[name.removeprefix("bert.")] = np.frombuffer(content[start:end], "<f4").reshape(entry["shape"])
    return tensors


class _Graph:
    """Nodes and weights as they are added; every method returns the name of what it computes."""

    def __init__(self, tensors: dict[str, np.ndarray[Any, Any]], config: dict[str, Any]) -> None:
        if config.get("model_type") != "bert" or config.get("hidden_act") != "gelu":
            raise SystemExit("only BERT encoders with GELU are known here")
        self._tensors, self._config = tensors, config
        self._nodes: list[onnx.NodeProto] = []
        self._weights: dict[str, onnx.TensorProto] = {}

    def model(self) -> onnx.ModelProto:
        """The whole encoder."""
        hidden = self._embed()
        mask = self._add("Cast", "attention_mask", to=TensorProto.FLOAT)
        blocked = self._add("Sub", self._kept(np.float32(1)), mask)
        blocked = self._add("Mul", blocked, self._kept(np.float32(MASKED)))
        bias = self._add("Unsqueeze", blocked, self._kept(np.array([1, 2])))
        for layer in range(self._config["num_hidden_layers"]):
            hidden = self._layer(f"encoder.layer.{layer}.", hidden, bias)
        self._nodes.append(helper.make_node("Identity", [hidden], ["last_hidden_state"]))
        axes = ["batch", "tokens"]
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, axes) for name in ("input_ids", "attention_mask")
        ]
        shape = [*axes, self._config["hidden_size"]]
        output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, shape)
        graph = helper.make_graph(self._nodes, "encoder", inputs, [output], list(self._weights.values()))
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)

    def _embed(self) -> str:
        words = self._add("Gather", self._weight("embeddings.word_embeddings.weight"), "input_ids")
        length = self._add("Gather", self._add("Shape", "input_ids"), self._kept(np.array([1])))
        places = self._tensors["embeddings.position_embeddings.weight"]
        places = places + self._tensors["embeddings.token_type_embeddings.weight"][0]  # one text: all of the first kind
        positions = self._add("Slice", self._kept(places), self._kept(np.array([0])), length, self._kept(np.array([0])))
        return self._norm("embeddings.LayerNorm.", self._add("Add", words, positions))

    def _layer(self, name: str, hidden: str, bias: str) -> str:
        heads = self._config["num_attention_heads"]
        width = self._config["hidden_size"] // heads
        query, key, value = (
            self._add(
                "Transpose",
                self._reshape(self._dense(f"{name}attention.self.{part}.", hidden), heads, width),
                perm=order,
            )
            for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3]))
        )
        fits = self._add("Mul", self._add("MatMul", query, key), self._kept(np.float32(width**-0.5)))
        weights = self._add("Softmax", self._add("Add", fits, bias), axis=-1)
        seen = self._add("Transpose", self._add("MatMul", weights, value), perm=[0, 2, 1, 3])
        seen = self._reshape(seen, heads * width)
        seen = self._add("Add", self._dense(f"{name}attention.output.dense.", seen), hidden)
        seen = self._norm(f"{name}attention.output.LayerNorm.", seen)
        wide = self._gelu(self._dense(f"{name}intermediate.dense.", seen))
        return self._norm(f"{name}output.LayerNorm.", self._add("Add", self._dense(f"{name}output.dense.", wide), seen))

    def _gelu(self, input_name: str) -> str:
        curve = self._add("Erf", self._add("Mul", input_name, self._kept(np.float32(0.5**0.5))))
        half = self._add("Mul", input_name, self._kept(np.float32(0.5)))
        return self._add("Mul", half, self._add("Add", curve, self._kept(np.float32(1))))

    def _dense(self, name: str, input_name: str) -> str:
        weight = np.ascontiguousarray(self._tensors[name + "weight"].T)
        return self._add("Add", self._add("MatMul", input_name, self._kept(weight)), self._weight(name + "bias"))

    def _norm(self, name: str, input_name: str) -> str:
        scale, bias = self._weight(name + "weight"), self._weight(name + "bias")
        return self._add("LayerNormalization", input_name, scale, bias, epsilon=self._config["layer_norm_eps"])

    def _reshape(self, input_name: str, *sizes: int) -> str:
        return self._add("Reshape", input_name, self._kept(np.array([0, 0, *sizes])))

    def _weight(self, name: str) -> str:
        return self._kept(self._tensors[name])

    def _kept(self, value: Any) -> str:
        name = f"w{len(self._weights)}"
        self._weights[name] = numpy_helper.from_array(np.asarray(value), name)
        return name

    def _add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"n{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name


if __name__ == "__main__":
    sys.exit(main())
