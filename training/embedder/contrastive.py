"""Fine-tuning: InfoNCE over requests and tools (van den Oord et al., 2018), held near the base by distillation."""

import dataclasses
import math
import time

import numpy as np
import torch
import torch.nn.functional as F

from model import MiniLm
from training_data import VIEWS, vectors_by

# Texts of a batch are cut by length into this many passes, so that little is padded.
PASSES = 6
WARM_UP = 0.06
LEAST_RATE = 0.02


@dataclasses.dataclass(frozen=True)
class Recipe:
    name: str
    note: str
    seed: int = 21
    steps: int = 700
    batch: int = 1_024
    rate: float = 1e-4
    temperature: float = 0.05
    dropout: float = 0.05
    # Wrong tools per request beside those of the batch, drawn from so many that the model finds most similar.
    negatives: int = 3
    negatives_from: int = 30
    # How often each of VIEWS is drawn.
    views: tuple = (0.65, 0.17, 0.18, 0.0, 0.0)
    # How often a request from a manual is put as a question.
    asked: float = 0.35
    # Requests of several steps, made by joining others.
    joined: int = 60_000
    # Whether the words' own vectors stay as they are in the base.
    frozen_words: bool = False
    # How much more often requests of some sources are drawn.
    source_factors: dict = dataclasses.field(default_factory=dict)
    # Tool to request, beside request to tool.
    reverse: float = 0.3
    # Pull of the base's vectors.
    distillation: float = 0.5
    # Tools that the base finds as similar as this are the same: neither is a negative of the other.
    same_tool: float = 0.9


class OutOfTime(Exception):
    pass


def fine_tune(recipe, base, data, base_vectors, negatives, deadline=math.inf):
    """The tuned model's state. `base_vectors` [texts of the table, HIDDEN], `negatives` those of the base; they are
    found again with the model itself half way."""
    device = base_vectors.device
    torch.manual_seed(recipe.seed)
    model = MiniLm().to(device)
    model.load_state_dict(base.state_dict())
    model.words.weight.requires_grad_(not recipe.frozen_words)
    model.train()
    optimiser = adam(model, recipe)
    batches = schedule(data.weights(recipe), recipe).to(device)
    shares = torch.tensor(recipe.views, device=device).cumsum(0)[:-1]
    started = time.time()
    for step in range(recipe.steps):
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate * rate_at(step, recipe.steps)
        if step == recipe.steps // 2 and step > 0:
            negatives = data.hard_negatives(vectors_by(model, data.table), negatives.shape[1])
        chosen = choose(recipe, data, negatives, batches[step], shares)
        loss, shown = loss_of(recipe, model, data, base_vectors, chosen)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if step % 50 == 0 or step == recipe.steps - 1:
            loss_value, pull, hits = (value.item() for value in (loss.detach(), *shown))
            if not math.isfinite(loss_value):
                raise ArithmeticError(f"the loss of {recipe.name} is {loss_value} at step {step}")
            spent = time.time() - started
            print(
                f"  {recipe.name} {step}: loss {loss_value:.3f} pull {pull:.3f} hits {hits:.3f} {spent:.0f} s",
                flush=True,
            )
            if time.time() > deadline:
                raise OutOfTime(f"{recipe.name} was at step {step} of {recipe.steps}")
    return {name: weight.detach().clone() for name, weight in model.state_dict().items()}


def adam(model, recipe):
    matrices = [weight for weight in model.parameters() if weight.ndim == 2 and weight.requires_grad]
    vectors = [weight for weight in model.parameters() if weight.ndim < 2]
    groups = [{"params": matrices, "weight_decay": 0.01}, {"params": vectors, "weight_decay": 0.0}]
    fused = matrices[0].device.type == "cuda"
    return torch.optim.AdamW(groups, lr=recipe.rate, betas=(0.9, 0.98), fused=fused)


def rate_at(step, steps):
    """Linear warm-up, then half a cosine."""
    warm = min(1.0, (step + 1) / max(1, int(WARM_UP * steps)))
    return max(LEAST_RATE, warm * 0.5 * (1 + math.cos(math.pi * step / steps)))


def schedule(weights, recipe):
    """[steps, batch]: each request as often as its weight says, evenly spread."""
    chance = np.random.default_rng(recipe.seed)
    needed = recipe.steps * recipe.batch
    expected = weights / weights.sum() * needed
    times = np.floor(expected).astype(np.int64)
    times += chance.random(len(times)) < expected - times
    drawn = np.repeat(np.arange(len(times)), times)
    chance.shuffle(drawn)
    if len(drawn) < needed:
        drawn = np.concatenate([drawn, chance.choice(drawn, needed - len(drawn))])
    return torch.from_numpy(drawn[:needed].reshape(recipe.steps, recipe.batch))


def choose(recipe, data, negatives, rows, shares):
    """For a batch of requests: their texts, one right tool each, hard wrong tools, and the tools' texts."""
    device, size = rows.device, len(rows)
    right = data.right[rows]
    nth = (torch.rand(size, device=device) * data.right_count[rows]).long()
    target = right.gather(1, nth[:, None])[:, 0]
    drawn = torch.randint(0, recipe.negatives_from, (size, recipe.negatives), device=device)
    wrong = negatives[rows].gather(1, drawn).flatten()
    anything = torch.randint(0, data.tool_count, wrong.shape, device=device)
    tools = torch.cat([target, torch.where(wrong < 0, anything, wrong)])
    view = torch.bucketize(torch.rand(len(tools), device=device), shares, right=True)
    is_asked = torch.rand(size, device=device) < recipe.asked
    requests = torch.where(is_asked, data.asked_at, data.requests_at) + rows
    return right, tools, requests, tools + view.clamp(max=len(VIEWS) - 1) * data.tool_count


def loss_of(recipe, model, data, base_vectors, chosen):
    right, tools, request_texts, tool_texts = chosen
    size, device = len(right), right.device
    with torch.autocast(device.type, dtype=torch.bfloat16):
        requests = forward(model, data.table, request_texts, recipe.dropout)
        vectors = forward(model, data.table, tool_texts, recipe.dropout)
    own = torch.arange(size, device=device)
    with torch.autocast(device.type, enabled=False):
        # Other right tools of the request and tools that are nearly the same as its own do not count as wrong.
        similar = base_vectors[tools[:size]].float() @ base_vectors[tools].float().T
        ignored = (right[:, :, None] == tools[None, None, :]).any(1) | (similar > recipe.same_tool)
        ignored[own, own] = False
        scores = (requests.float() @ vectors.float().T / recipe.temperature).masked_fill(ignored, -1e4)
        loss = F.cross_entropy(scores, own)
        if recipe.reverse > 0:
            loss = loss + recipe.reverse * F.cross_entropy(scores[:, :size].T, own)
        pull = away(requests, base_vectors[request_texts]) + away(vectors, base_vectors[tool_texts])
        loss = loss + recipe.distillation * pull
    hits = (scores.argmax(1) == own).float().mean()
    return loss, (pull.detach(), hits)


def away(vectors, base_vectors):
    return (1 - (vectors.float() * base_vectors.float()).sum(-1)).mean()


def forward(model, table, places, dropout):
    lengths, order = table.lengths[places].sort()
    parts = order.chunk(PASSES)
    longest = torch.stack([part[-1] for part in lengths.chunk(PASSES)]).tolist()
    vectors = [
        model(*table.batch(places[part], width), dropout=dropout)
        for part, width in zip(parts, longest)
    ]
    return torch.cat(vectors)[order.argsort()]
