"""EfficientNet-Lite0 as an ONNX graph: pixels in, class scores and features out (Tan & Le 2019; the Lite
variant of 2020 has ReLU6 for swish and no squeeze-and-excitation).

Every batch normalisation is folded into the convolution before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from fieldmark.tools.vision.weights import Weights

SIDE = 224
CLASSES = 1000
FEATURES = 1280

_STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1)  # of the 16 blocks
_RELU6 = {"zero": 0, "six": 6}
_EPSILON = 1e-3
_OPSET, _IR = 13, 8  # what every ONNX Runtime since 1.10 reads


def build(weights: Weights) -> bytes:
    """The model file. Input `pixels` (N, 3, 224, 224) float32; outputs `logits` (N, 1000) and `features`
    (N, 1280), the averages before the last layer. KeyError: weights of another network.
    """
    graph = _Graph(weights)
    graph.conv("pixels", "_conv_stem", "_bn0", stride=2)
    for number, stride in enumerate(_STRIDES):
        graph.block(f"_blocks.{number}.", stride)
    graph.conv(graph.last, "_conv_head", "_bn1")
    graph.node("GlobalAveragePool", [graph.last])
    graph.node("Flatten", [graph.last], out="features")
    names = [
        graph.constant("_fc.weight", weights["_fc.weight"]),
        graph.constant("_fc.bias", weights["_fc.bias"]),
    ]
    graph.node("Gemm", ["features", *names], out="logits", transB=1)
    model: bytes = graph.model().SerializeToString()
    return model


class _Graph:
    """Nodes and constants in the order they are added; `last` is the newest value's name."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = [
            numpy_helper.from_array(np.array(value, np.float32), name) for name, value in _RELU6.items()
        ]
        self._channels = 3
        self.last = "pixels"

    def block(self, prefix: str, stride: int) -> None:
        """An inverted residual: widen (all but the first), filter each channel, narrow, add the input."""
        source, channels = self.last, self._channels
        if f"{prefix}_expand_conv.weight" in self._weights:
            self.conv(source, f"{prefix}_expand_conv", f"{prefix}_bn0")
        self.conv(self.last, f"{prefix}_depthwise_conv", f"{prefix}_bn1", stride=stride)
        self.conv(self.last, f"{prefix}_project_conv", f"{prefix}_bn2", relu=False)
        if stride == 1 and self._channels == channels:
            self.node("Add", [source, self.last])

    def conv(self, source: str, name: str, norm: str, *, stride: int = 1, relu: bool = True) -> None:
        """A convolution with its normalisation folded in; one filter a channel where the weights say so."""
        weight, bias = _folded(self._weights, name, norm)
        groups = weight.shape[0] if weight.shape[1] == 1 and weight.shape[2] > 1 else 1
        inputs = [source, self.constant(f"{name}.weight", weight), self.constant(f"{name}.bias", bias)]
        # TensorFlow, where the weights come from, pads an odd pixel at the lower right
        self.node("Conv", inputs, strides=[stride, stride], group=groups, auto_pad="SAME_UPPER")
        if relu:
            self.node("Clip", [self.last, *_RELU6])
        self._channels = weight.shape[0]

    def node(self, kind: str, inputs: list[str], *, out: str | None = None, **settings: Any) -> None:
        out = out or f"v{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [out], **settings))
        self.last = out

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name))
        return name

    def model(self) -> ModelProto:
        value = helper.make_tensor_value_info
        pixels = value("pixels", TensorProto.FLOAT, ["n", 3, SIDE, SIDE])
        outputs = [
            value("logits", TensorProto.FLOAT, ["n", CLASSES]),
            value("features", TensorProto.FLOAT, ["n", FEATURES]),
        ]
        graph = helper.make_graph(self._nodes, "efficientnet-lite0", [pixels], outputs, self._constants)
        opset = helper.make_opsetid("", _OPSET)
        return helper.make_model(graph, opset_imports=[opset], ir_version=_IR)


def _folded(weights: Weights, name: str, norm: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Weights (out, in, h, w) and bias (out,) that do what the convolution and its normalisation did."""
    scale = weights[f"{norm}.weight"] / np.sqrt(weights[f"{norm}.running_var"] + _EPSILON)
    bias = weights[f"{norm}.bias"] - weights[f"{norm}.running_mean"] * scale
    return weights[f"{name}.weight"] * scale[:, None, None, None], bias
