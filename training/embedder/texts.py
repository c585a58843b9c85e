"""Token tables on the device, and vectors of many texts at a time."""

import numpy as np
import torch

from tokenizer import encode_all

# Tokens of one forward pass without gradients.
TOKENS_PER_PASS = 262_144


class TokenTable:
    """Token ids of many texts, end to end, so that a batch is gathered on the device."""

    def __init__(self, lengths, flat):
        self.lengths = torch.from_numpy(np.array(lengths, dtype=np.int64))
        self.starts = self.lengths.cumsum(0) - self.lengths
        self.flat = torch.from_numpy(np.array(flat, dtype=np.int32))

    @staticmethod
    def of(tokenizer, texts, most, processes):
        return TokenTable(*encode_all(tokenizer, texts, most, processes))

    def __len__(self):
        return len(self.lengths)

    def to(self, device):
        self.lengths, self.starts, self.flat = (
            tensor.to(device) for tensor in (self.lengths, self.starts, self.flat)
        )
        return self

    def batch(self, places, longest):
        """ids and mask, [texts, tokens]; padded to a multiple of 8, which the attention kernels want"""
        width = (longest + 7) // 8 * 8
        columns = torch.arange(width, device=self.flat.device)
        mask = columns < self.lengths[places][:, None]
        at = (self.starts[places][:, None] + columns).clamp(max=len(self.flat) - 1)
        return self.flat[at].long() * mask, mask


@torch.no_grad()
def embed(model, table, places=None, half=False):
    """Vectors of the texts at these places, or of all, in their order; `half`: computed in bfloat16, on a GPU."""
    device = table.flat.device
    half = half and device.type == "cuda"
    places = torch.arange(len(table), device=device) if places is None else places
    lengths, order = table.lengths[places].sort()
    # Sorted, so that texts of one pass are about equally long and little is padded.
    lengths = lengths.tolist()
    vectors = torch.empty(
        len(places), model.words.weight.shape[1], device=device, dtype=torch.float16 if half else torch.float32
    )
    first = 0
    while first < len(places):
        last = min(len(places), first + max(1, TOKENS_PER_PASS // (lengths[first] + 8)))
        last = min(last, first + max(1, TOKENS_PER_PASS // (lengths[last - 1] + 8)))
        part = order[first:last]
        ids, mask = table.batch(places[part], lengths[last - 1])
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=half):
            vectors[part] = model(ids, mask).to(vectors.dtype)
        first = last
    return vectors
