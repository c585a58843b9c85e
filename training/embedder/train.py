"""Fine-tunes all-MiniLM-L6-v2 for tools, mixes it with the base, rounds it to int8, measures it and writes it:

    python3 training/embedder/train.py --data .embedder-data --out OUT

README.md beside this says where the data come from. Recipes are trained in order while `--limit` seconds allow; after
each the best weights so far are written, so that what is finished counts.
"""

import argparse
import dataclasses
import hashlib
import itertools
import json
import os
import time
import traceback
from pathlib import Path

import numpy as np
import torch

from contrastive import OutOfTime, Recipe, fine_tune
from evaluate import RANKERS, Sets, agreement, gains, merit
from model import MOST_TOKENS, mix, read_base, read_weights, rounded, write_weights
from reference_texts import REFERENCE_TEXTS
from texts import embed
from tokenizer import Tokenizer
from training_data import NATURAL, Requests, vectors_by

STEM = "minilm-tools"
# Shares of the tuned weights; the rest is the base's.
SHARES = (0.7, 0.85, 1.0, 0.55)
JOINT_SHARES = (0.7, 0.6, 0.85)
# What the last figures and files take.
RESERVED_SECONDS = 40
RESAMPLES = 2_000
# Weights of the fusion that differ by no more than this are neighbours.
NEIGHBOURHOOD = 0.1
VARIED = (0.45, 0.15, 0.15, 0.13, 0.12)


def more_natural(factor):
    return {source: factor for source in NATURAL}


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe("plain", "three ways to write a tool, three hard negatives"),
        Recipe("varied", "also first sentences alone, and boilerplate after the description", seed=22, views=VARIED),
        Recipe(
            "natural",
            "as varied, natural requests twice as often",
            27,
            800,
            views=VARIED,
            source_factors=more_natural(2.0),
        ),
        Recipe("frozen", "as varied, the words' vectors stay the base's", 28, 800, views=VARIED, frozen_words=True),
        Recipe(
            "many-steps",
            "as varied, natural requests 1.5 times as often, and as many requests of many steps as of few",
            29,
            800,
            views=VARIED,
            joined=120_000,
            source_factors=more_natural(1.5),
        ),
        Recipe("varied-2", "varied with another seed", seed=31, views=VARIED),
        Recipe("frozen-2", "frozen with another seed", 32, 700, views=VARIED, frozen_words=True),
    )
}


def main():
    started = time.time()
    options = read_options()
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    recipes = [RECIPES[name] for name in options.recipes.split(",")]
    if options.smoke:
        recipes = [dataclasses.replace(recipe, steps=12) for recipe in recipes]
    if options.batch:
        # Small trials on a CPU.
        joined = 10 * options.batch
        recipes = [dataclasses.replace(recipe, batch=options.batch, joined=joined) for recipe in recipes]

    def say(text):
        print(f"[{time.time() - started:.0f} s] {text}", flush=True)

    # Before the device is touched: tokenizing forks processes.
    tokenizer = Tokenizer.read(Path(options.data, "vocabulary.json.gz"))
    training_file = Path(options.data, "train.json.gz")
    processes = options.processes or os.cpu_count() or 1
    joined = max(recipe.joined for recipe in recipes)
    data = Requests(training_file, tokenizer, joined, processes)
    say(f"{data.tool_count} tools, {data.task_count} requests, {len(data.table)} texts to train on")
    sets = Sets(Path(options.data, "sets.json.gz"), tokenizer, processes)
    say(f"{len(sets.table)} texts to measure on")

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_float32_matmul_precision("high")
    data.to(device)
    sets.to(device)
    base = read_base(options.data, device)
    base_figures = sets.measure(base)
    say(f"base: {means(base_figures, sets.names)}")
    base_vectors = embed(base, data.table, half=True)
    say("embedded with the base")
    most_negatives = max(recipe.negatives_from for recipe in recipes)
    negatives = data.hard_negatives(vectors_by(base, data.table), most_negatives)
    say("found hard negatives")

    trial = Trial(base, base_figures, sets, out, device, say)
    trial.facts = {
        "data": hashlib.sha256(training_file.read_bytes()).hexdigest(),
        "recipes": {recipe.name: dataclasses.asdict(recipe) for recipe in recipes},
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "CPU",
    }
    deadline = started + options.limit - RESERVED_SECONDS
    tuned, seconds_per_step = {}, 0.0
    for recipe in recipes:
        cost = recipe.steps * seconds_per_step * (1 + recipe.negatives) / (1 + recipes[0].negatives)
        if time.time() + cost > deadline:
            say(f"no time for {recipe.name}, which would take {cost:.0f} s")
            continue
        try:
            begun = time.time()
            tuned[recipe.name] = fine_tune(recipe, base, data, base_vectors, negatives, deadline)
            seconds_per_step = seconds_per_step or (time.time() - begun) / recipe.steps
            say(f"trained {recipe.name} in {time.time() - begun:.0f} s")
        except OutOfTime as late:
            say(f"stopped: {late}")
            continue
        except Exception:
            # One recipe that fails must not cost the others.
            traceback.print_exc()
            continue
        for share in SHARES[:1] if options.smoke else SHARES:
            trial.enter(f"{recipe.name} x {share}", [tuned[recipe.name]], share)
        trial.write_best()
    for names in groups_of(list(tuned)):
        if time.time() > deadline:
            say("no time for more averages")
            break
        for share in JOINT_SHARES[:1] if options.smoke else JOINT_SHARES:
            trial.enter(f"{'+'.join(names)} x {share}", [tuned[name] for name in names], share)
    if not trial.entries:
        raise SystemExit("no recipe was finished")
    trial.write_best()
    trial.write_results(50 if options.smoke else RESAMPLES)
    write_reference_vectors(out, tokenizer)
    say("done")


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder that scripts/export-embedder-data.ts wrote")
    parser.add_argument("--out", required=True, help="folder for the weights and figures")
    parser.add_argument("--recipes", default="frozen-2", help=f"one or more of {', '.join(RECIPES)}")
    parser.add_argument("--limit", type=float, default=3_600, help="seconds after which no recipe is begun")
    parser.add_argument("--smoke", action="store_true", help="everything, with 12 steps per recipe")
    parser.add_argument("--batch", type=int, help="requests per step, to try the code out on a CPU")
    parser.add_argument("--processes", type=int, help="for tokenizing; as many as cores")
    return parser.parse_args()


def groups_of(names):
    """All of them, then every pair."""
    pairs = list(itertools.combinations(names, 2))
    return ([tuple(names)] if len(names) > 2 else []) + pairs


def means(measured, names):
    shown = []
    for ranker in RANKERS:
        mrr = [measured[name, ranker][:, 0].mean() for name in names]
        each = " ".join(f"{name} {value:.3f}" for name, value in zip(names, mrr))
        shown.append(f"{ranker} MRR {sum(mrr) / len(mrr):.4f} ({each})")
    return "; ".join(shown)


@dataclasses.dataclass
class Entry:
    """One variant: tuned weights (averaged where there are several) mixed with the base."""

    name: str
    parts: list
    measured: dict


class Trial:
    """All variants and their figures. Weights are measured as they ship: rounded to int8."""

    def __init__(self, base, base_figures, sets, out, device, say):
        self.base, self.base_figures, self.sets = base, base_figures, sets
        self.out, self.device, self.say = out, device, say
        self.entries, self.written, self.facts = [], None, {}

    def enter(self, name, tuned, share):
        parts = [(self.base.state_dict(), 1 - share), *((state, share / len(tuned)) for state in tuned)]
        measured = self.sets.measure(rounded(mix(parts, self.device), self.device))
        entry = Entry(name, parts, measured)
        self.entries.append(entry)
        self.say(f"{name}: merit {self.merit(entry):+.4f}; {means(measured, self.sets.names)}")

    def merit(self, entry, without=None):
        names = [name for name in self.sets.names if name != without]
        return merit(entry.measured, self.base_figures, names)

    def best(self, without=None):
        """The variant that the sets, but for one, choose."""
        return max(self.entries, key=lambda entry: self.merit(entry, without))

    def write_best(self):
        best = self.best()
        if best is not self.written:
            write_weights(mix(best.parts, self.device), self.out, STEM)
            self.written = best
            self.say(f"wrote {best.name}")

    def write_results(self, resamples):
        best, sets, base = self.written, self.sets, self.base
        results = {**self.facts, "chosen": best.name, "variants": self.variants()}
        plain_float = mix(best.parts, self.device)
        shipped = rounded(plain_float, self.device)
        results["sets"] = gains(sets.plain, best.measured, self.base_figures, resamples)
        self.show("chosen on all sets", results["sets"])
        # Each set with the variant that the other sets chose: what the choice cannot have flattered.
        held_out = {}
        results["chosenWithout"] = {}
        for name in sets.names:
            choice = self.best(without=name)
            results["chosenWithout"][name] = choice.name
            for ranker in RANKERS:
                held_out[name, ranker] = choice.measured[name, ranker]
        results["heldOut"] = gains(sets.plain, held_out, self.base_figures, resamples)
        self.show("each set with what the others chose", results["heldOut"])
        self.write(results)
        crowded = [sets.measure(model, sets.crowded) for model in (shipped, base)]
        results["distractors"] = gains(sets.crowded, *crowded, resamples)
        self.show("among distractors", results["distractors"])
        self.write(results)
        unrounded = sets.measure(plain_float)
        results["int8AgainstFloat"] = gains(sets.plain, best.measured, unrounded, resamples)
        self.show("int8 against float", results["int8AgainstFloat"])
        results["pastIntents"] = self.past_intents(shipped)
        results["agreementWithBase"] = round(agreement(sets, shipped, base), 4)
        self.say(f"past intents {results['pastIntents']}; agreement {results['agreementWithBase']}")
        self.write(results)
        results["refitted"], results["refittedWeights"] = self.refitted(shipped, resamples)
        self.say(f"fusion refitted: {results['refittedWeights']}")
        self.show("fusion refitted, leaving one set out", {"fused": results["refitted"]})
        self.write(results)

    def variants(self):
        found = {}
        for entry in self.entries:
            found[entry.name] = {
                "merit": round(self.merit(entry), 4),
                **{
                    ranker: {
                        name: round(float(entry.measured[name, ranker][:, 0].mean()), 4)
                        for name in self.sets.names
                    }
                    for ranker in RANKERS
                },
            }
        return found

    def past_intents(self, model):
        before, after = (self.sets.measure_neighbours(each) for each in (self.base, model))
        return {
            name: [round(float(figures[name][:, 0].mean()), 4) for figures in (before, after)] for name in before
        }

    def refitted(self, model, resamples):
        """The fused score of base and tuned, each with the weights that fit the other sets best."""
        chosen, weights = [], {}
        for key, each in (("base", self.base), ("tuned", model)):
            grid = self.sets.measure_fusions(each)
            figures, weights[key] = {}, {}
            for name in self.sets.names:
                others = [other for other in self.sets.names if other != name]
                best = best_weights(grid, others)
                figures[name, "fused"] = figures[name, "cosine"] = grid[best][name, "fused"]
                weights[key][name] = best
            chosen.append(figures)
        before, after = chosen
        return gains(self.sets.plain, after, before, resamples)["fused"], weights

    def show(self, title, report):
        for ranker, rows in report.items():
            each = "; ".join(
                f"{name} {row['mrr']['base']:.3f} -> {row['mrr']['tuned']:.3f} {row['mrr']['ci95']}"
                for name, row in rows.items()
            )
            mean = rows["mean"]
            self.say(
                f"{title}, {ranker}: MRR {mean['mrr']['gain']:+.4f} {mean['mrr']['ci95']}, "
                f"nDCG@10 {mean['ndcg10']['gain']:+.4f} {mean['ndcg10']['ci95']} ({each})"
            )

    def write(self, results):
        (self.out / "results.json").write_text(json.dumps(results, indent=1))


def best_weights(grid, names):
    """Of the fusion, for these sets; each point is averaged with its neighbours, so that no lucky one wins."""
    merits = {
        weights: float(np.mean([found[name, "fused"].mean(0)[:2] for name in names]))
        for weights, found in grid.items()
    }

    def smooth(weights):
        near = [
            merits[other]
            for other in merits
            if sum(abs(a - b) for a, b in zip(weights, other)) / 2 <= NEIGHBOURHOOD + 1e-9
        ]
        return float(np.mean(near))

    return max(merits, key=smooth)


def write_reference_vectors(out, tokenizer):
    """Vectors of some texts, computed in float64 from the files just written."""
    model = read_weights(out, STEM).double()
    rows = []
    for text in REFERENCE_TEXTS:
        ids = tokenizer.encode(text, MOST_TOKENS)
        with torch.no_grad():
            vector = model(torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.bool))[0]
        rows.append({"text": text, "tokens": ids, "vector": [round(float(value), 6) for value in vector]})
    about = "int8 rows times their scales, float64, mean over tokens, L2-normalised, at most 256 tokens"
    report = {"model": STEM, "computed_with": f"PyTorch: {about}", "rows": rows}
    (out / f"{STEM}-reference.json").write_text(json.dumps(report, ensure_ascii=False))


if __name__ == "__main__":
    main()
