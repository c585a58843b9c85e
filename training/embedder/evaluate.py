"""Ranking figures on data sets that were not trained on, and what they gain over the base."""

import gzip
import json

import numpy as np
import torch

from texts import TokenTable, embed
from model import MOST_TOKENS

FIGURES = ("mrr", "ndcg10", "hit1")
RANKERS = ("cosine", "fused")
# The product's search before it was fitted to a new model (`SHIPPED_WEIGHTS` and DEFAULTS in text-scores.ts).
FUSION = (0.2, 0.4, 0.4)
BM25_K1, BM25_B, LEXICAL_HALF, NAME_LIFT = 3.0, 0.75, 4.0, 0.95
# Nearest past intents that vote, and how sharply.
NEIGHBOURS, VOTE_POWER = 10, 4
LEAST_PAST = 20
# Comparisons of one step when ranks are counted.
MOST_COMPARISONS = 200_000_000


class Case:
    """One data set, or one with the distractors among its tools: everything but the vectors."""

    def __init__(self, name, group_of, tools, tasks, named, word_count, device):
        self.name, self.set = name, group_of
        self.tools = torch.tensor([tool["text"] for tool in tools], device=device)
        self.intents = torch.tensor([task["intent"] for task in tasks], device=device)
        self.clauses = padded([task["clauses"] or [task["intent"]] for task in tasks]).to(device)
        self.gold = padded_gold([task["gold"] for task in tasks]).to(device)
        groups = {}
        self.groups = np.array([groups.setdefault(task["group"], len(groups)) for task in tasks])
        self.is_dev = np.array([task["isDev"] for task in tasks])
        self.lexical = lexical_scores(
            [tool["words"] for tool in tools], [task["words"] for task in tasks], word_count, device
        )
        names = np.zeros((len(tasks), len(tools)), dtype=np.float32)
        for row, found in enumerate(named):
            for tool, sure in found:
                names[row, tool] = sure
        self.named = torch.from_numpy(names).to(device)


def padded(rows):
    width = max(map(len, rows))
    return torch.tensor([[*row, *[-1] * (width - len(row))] for row in rows])


def padded_gold(rows):
    """[tasks, right tools, tools that count as it], -1 where there are none"""
    most = max(len(row) for row in rows)
    widest = max(len(accepted) for row in rows for accepted in row)
    gold = torch.full((len(rows), most, widest), -1, dtype=torch.long)
    for i, row in enumerate(rows):
        for k, accepted in enumerate(row):
            gold[i, k, : len(accepted)] = torch.tensor(accepted)
    return gold


def lexical_scores(documents, queries, word_count, device):
    """BM25 on a scale from 0 to 1, as in text-scores.ts: [queries, documents]"""
    lengths = torch.tensor([len(words) for words in documents], dtype=torch.float32)
    mean_length = float(lengths.sum()) / max(1, len(documents)) or 1.0
    counts = {}
    for place, words in enumerate(documents):
        for word in words:
            counts[word, place] = counts.get((word, place), 0) + 1
    word_of = torch.tensor([word for word, _ in counts])
    document_of = torch.tensor([place for _, place in counts])
    count = torch.tensor(list(counts.values()), dtype=torch.float32)
    holding = torch.bincount(word_of, minlength=word_count).float()
    rarity = torch.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
    rarity[holding == 0] = 0
    norm = BM25_K1 * (1 - BM25_B + BM25_B * lengths[document_of] / mean_length)
    impact = rarity[word_of] * count * (BM25_K1 + 1) / (count + norm)
    # Only words that some query asks for, so that the matrix stays small.
    asked = torch.tensor(sorted({word for words in queries for word in words}))
    row_of = torch.full((word_count,), -1, dtype=torch.long)
    row_of[asked] = torch.arange(len(asked))
    kept = row_of[word_of] >= 0
    impacts = torch.zeros(len(asked), len(documents), device=device)
    impacts[row_of[word_of[kept]].to(device), document_of[kept].to(device)] = impact[kept].to(device)
    pairs = [(row, word) for row, words in enumerate(queries) for word in words]
    at = torch.tensor([[row for row, _ in pairs], row_of[[word for _, word in pairs]].tolist()])
    shape = (len(queries), len(asked))
    asks = torch.sparse_coo_tensor(at, torch.ones(len(pairs)), shape, device=device).coalesce()
    scores = torch.sparse.mm(asks, impacts)
    most = (rarity * (BM25_K1 + 1))[asked].to(device)
    ideal = torch.sparse.mm(asks, most[:, None])
    return torch.where(scores == 0, scores, scores / (scores + LEXICAL_HALF * ideal.sqrt()))


class Sets:
    """The sets (`plain`), and each with the distractors (`crowded`)."""

    def __init__(self, file, tokenizer, processes):
        with gzip.open(file, "rt", encoding="utf8") as lines:
            self.data = json.load(lines)
        self.table = TokenTable.of(tokenizer, self.data["texts"], MOST_TOKENS, processes)
        self.plain, self.crowded = [], []

    def to(self, device):
        self.table.to(device)
        words, others = self.data["wordCount"], self.data["distractors"]
        for data_set in self.data["sets"]:
            name, tools, tasks = data_set["name"], data_set["tools"], data_set["tasks"]
            self.plain.append(Case(name, name, tools, tasks, data_set["named"], words, device))
            among = tools + [others[place] for place in data_set["distractors"]]
            named = data_set["namedAmongDistractors"]
            self.crowded.append(Case(f"{name}+distractors", name, among, tasks, named, words, device))
        return self

    @property
    def names(self):
        return [case.name for case in self.plain]

    def measure(self, model, cases=None, fusion=FUSION):
        """(case, ranker) -> [tasks, FIGURES]"""
        vectors = embed(model, self.table)
        found = {}
        for case in cases or self.plain:
            whole, clause = cosines(case, vectors)
            found[case.name, "cosine"] = figures(case, whole)
            found[case.name, "fused"] = figures(case, fused(case, whole, clause, fusion))
        return found

    def measure_neighbours(self, model):
        """How well the tools of similar past intents rank, past and present from different groups."""
        vectors = embed(model, self.table)
        found = {}
        for case in self.plain:
            present = np.flatnonzero(case.is_dev)
            past = np.flatnonzero(~case.is_dev & ~np.isin(case.groups, case.groups[present]))
            if len(past) >= LEAST_PAST and len(present) > 0:
                found[case.name] = neighbour_figures(case, vectors, past, present)
        return found

    def measure_fusions(self, model, steps=20):
        """By weights of the fusion on a grid, what `measure` gives for the fused score."""
        vectors = embed(model, self.table)
        found = {}
        for case in self.plain:
            whole, clause = cosines(case, vectors)
            for i in range(steps + 1):
                for k in range(steps + 1 - i):
                    weights = (i / steps, k / steps, (steps - i - k) / steps)
                    ranked = figures(case, fused(case, whole, clause, weights))
                    found.setdefault(weights, {})[case.name, "fused"] = ranked
        return found


def cosines(case, vectors):
    """Of whole intents and, less what a clause has in common with all tools, of the best clause: [tasks, tools]"""
    tools = vectors[case.tools]
    whole = vectors[case.intents] @ tools.T
    clause = torch.full_like(whole, -torch.inf)
    for texts in case.clauses.T:
        rows = (texts >= 0).nonzero()[:, 0]
        cosine = vectors[texts[rows]] @ tools.T
        clause[rows] = torch.maximum(clause[rows], cosine - cosine.mean(1, keepdim=True))
    return whole, clause


def fused(case, whole, clause, weights):
    score = weights[0] * whole + weights[1] * clause + weights[2] * case.lexical
    return score + NAME_LIFT * case.named * (1 - score)


def figures(case, scores, gold=None):
    """MRR and Hit@1 of the first right tool, nDCG@10 of all: [tasks, FIGURES]. Of equals, the earlier tool is first."""
    gold = case.gold if gold is None else gold
    tasks, tools = scores.shape
    places = gold.flatten(1)
    own = scores.gather(1, places.clamp(min=0))
    order = torch.arange(tools, device=scores.device)
    ranks = torch.empty_like(own)
    rows = max(1, MOST_COMPARISONS // (tools * places.shape[1]))
    for first in range(0, tasks, rows):
        part = slice(first, first + rows)
        all_scores, one = scores[part, None, :], own[part, :, None]
        before = (all_scores > one) | ((all_scores == one) & (order < places[part, :, None]))
        ranks[part] = 1.0 + before.sum(-1)
    ranks = ranks.view(gold.shape).masked_fill(gold < 0, torch.inf).amin(-1)
    best = ranks.amin(-1)
    gains = torch.where(ranks <= 10, 1 / torch.log2(1 + ranks), torch.zeros_like(ranks)).sum(-1)
    ideal = (1 / torch.log2(2 + torch.arange(10, device=scores.device).float())).cumsum(0)
    right = (gold >= 0).any(-1).sum(-1).clamp(1, 10)
    result = torch.stack([1 / best, gains / ideal[right - 1], (best <= 1).float()], 1)
    return result.cpu().numpy().astype(np.float64)


def neighbour_figures(case, vectors, past, present):
    device = vectors.device
    past, present = torch.from_numpy(past).to(device), torch.from_numpy(present).to(device)
    similar = (vectors[case.intents[present]] @ vectors[case.intents[past]].T).clamp(min=0)
    weight, nearest = similar.topk(NEIGHBOURS, 1)
    used = torch.zeros(len(past), len(case.tools), device=device)
    for tools in case.gold[past][:, :, 0].T:
        rows = (tools >= 0).nonzero()[:, 0]
        used[rows, tools[rows]] = 1
    votes = torch.zeros(len(present), len(case.tools), device=device)
    for k in range(NEIGHBOURS):
        votes += weight[:, k : k + 1] ** VOTE_POWER * used[nearest[:, k]]
    return figures(case, votes, case.gold[present])


def resampled(groups, differences, resamples, chance):
    """Means of each column when groups are drawn with replacement (cluster bootstrap: Field & Welsh, 2007):
    [tasks, columns] -> [resamples, columns]"""
    sizes = np.bincount(groups)
    sums = np.stack([np.bincount(groups, weights=column) for column in differences.T], 1)
    drawn = chance.multinomial(len(sizes), np.full(len(sizes), 1 / len(sizes)), resamples)
    return drawn @ sums / (drawn @ sizes)[:, None]


def interval(means):
    return [round(float(value), 4) for value in np.percentile(means, (2.5, 97.5))]


def gains(cases, tuned, base, resamples, seed=1):
    """By case and ranker: base, tuned, gain and its 95 % interval; in `mean` each case counts the same."""
    report, chance = {}, np.random.default_rng(seed)
    for ranker in RANKERS:
        rows, summed = {}, []
        for case in cases:
            before, after = base[case.name, ranker], tuned[case.name, ranker]
            means = resampled(case.groups, after - before, resamples, chance)
            summed.append((before.mean(0), after.mean(0), means))
            rows[case.name] = gain_rows(*summed[-1])
        rows["mean"] = gain_rows(*(np.mean(parts, 0) for parts in zip(*summed)))
        report[ranker] = rows
    return report


def gain_rows(before, after, means):
    return {
        figure: {
            "base": round(float(before[k]), 4),
            "tuned": round(float(after[k]), 4),
            "gain": round(float(after[k] - before[k]), 4),
            "ci95": interval(means[:, k]),
        }
        for k, figure in enumerate(FIGURES)
    }


def merit(measured, base, names):
    """What variants are chosen by: mean gain in MRR and nDCG@10, of cosine and of the fusion, over these sets."""
    differences = [
        (measured[name, ranker] - base[name, ranker]).mean(0)[:2] for name in names for ranker in RANKERS
    ]
    return float(np.mean(differences))


def correlation(a, b):
    """Spearman's"""
    ranks = [np.argsort(np.argsort(values)).astype(np.float64) for values in (a, b)]
    return float(np.corrcoef(*ranks)[0, 1])


def agreement(sets, model, base, count=1_500, seed=1):
    """How similarly both models order pairs of intents: the general sense of the base that was kept."""
    chance = np.random.default_rng(seed)
    texts = np.unique(np.concatenate([case.intents.cpu().numpy() for case in sets.plain]))
    drawn = torch.from_numpy(chance.choice(texts, min(count, len(texts)), replace=False))
    drawn = drawn.to(sets.table.flat.device)
    pairs = np.triu_indices(len(drawn), 1)
    similar = []
    for each in (base, model):
        vectors = embed(each, sets.table, drawn)
        similar.append((vectors @ vectors.T).cpu().numpy()[pairs])
    return correlation(*similar)
