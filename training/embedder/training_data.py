"""What is trained on: tools in several wordings, requests, requests of several steps made by joining others."""

import collections
import gzip
import json
import random
import re

import numpy as np
import torch

from texts import TokenTable, embed
from tokenizer import encode_all

# Tokens of a tool and of a request in training; most are far shorter, and long ones cost most of the time.
TOOL_TOKENS, REQUEST_TOKENS = 128, 192
# Right tools of one request that are looked at.
MOST_TOOLS = 8
SEED = 0

# How often a request of each source is drawn: natural requests often, the many generated from manuals less.
SOURCE_WEIGHTS = {
    "tldr": 0.7,
    "aws": 0.7,
    "aws-doc": 0.5,
    "azcli": 0.5,
    "azps": 0.35,
    "pwsh": 1.0,
    "pwsh-office": 0.7,
    "openapi": 0.9,
    "ppc": 0.8,
    "activepieces": 1.5,
    "ha": 2.0,
    "composio": 3.0,
    "dockermcp": 3.0,
    "azmcp": 3.0,
    "apibench": 2.0,
    "bfcl": 3.0,
    "seal": 4.0,
    "apibank": 4.0,
    "stabletoolbench": 5.0,
    "acebench": 5.0,
    "nestful": 6.0,
    "tooltalk": 6.0,
    "joined": 1.0,
}
# Sources of requests that people or models wrote as such; the others are sentences of manuals.
NATURAL = ("apibench", "bfcl", "seal", "azmcp", "acebench", "stabletoolbench", "nestful", "apibank", "tooltalk")
# Sources whose tools are too few to be hard for each other share them.
SMALL_SOURCES = ("nestful", "apibank", "tooltalk", "seal", "bfcl", "azmcp", "acebench")
# Requests of these sources have their tools under another source.
TOOLS_OF = {"aws-doc": "aws", "stabletoolbench": "rapidapi"}
# Sentences of the manual itself make no good step of a longer request.
NOT_JOINED = ("aws-doc",)
JOINED_LENGTH = 160
# Of the joined requests so many have few steps, those after them many.
FEW_STEPS = 60_000
STEPS, MANY_STEPS = (2, 3, 4, 5), (4, 5, 6, 7, 8, 9)
STEP_SHARES, MANY_STEP_SHARES = (0.45, 0.3, 0.15, 0.1), (0.2, 0.2, 0.2, 0.15, 0.15, 0.1)

# Ways to write a tool. A recipe says how often each is drawn.
VIEWS = ("full", "no description", "unknown server", "first sentence", "wordy")
UNKNOWN_SERVERS = ("tools", "api", "server", "plugin", "assistant")
# What real descriptions add that says nothing about the tool.
BOILERPLATE = (
    "Returns a JSON object with the result or an error message.",
    "Use this tool when the user asks for it.",
    "Requires authentication.",
    "Rate limits apply.",
    "Example: see the documentation for details.",
    "IMPORTANT: always check the parameters before calling this tool.",
    "Do not use this for anything else.",
    "Args: all arguments are optional unless stated otherwise.",
    "The response may be truncated if it is too long.",
    "Supports pagination.",
    "This is a read-only operation.",
    "Note: this action cannot be undone.",
    "Returns: a list of items, or an empty list if nothing was found.",
    "Prefer this over other tools when possible.",
    "See also the related tools of this server.",
)

ASKING = (
    "Can you {}?",
    "Please {}.",
    "I need to {}.",
    "I want to {}.",
    "Help me {}.",
    "How do I {}?",
    "I'd like to {}.",
    "Could you {} for me?",
)
OPENING = (
    "Hello!",
    "I am preparing something for next week.",
    "We are a small team and short of time.",
    "My boss needs this by tomorrow.",
    "I could use a hand with a few things.",
    "I am new to this and do not know where to begin.",
    "There is a lot on my list today.",
    "Quick question.",
)
CLOSING = (
    "Thank you!",
    "Tell me what you find.",
    "Give me a short summary at the end.",
    "Only the important points, please.",
    "Let me know if something looks wrong.",
    "Use real data for all of it.",
)
LINKS = (" and ", ", then ", ", and finally ", " and also ")
NEXT = ("Then", "After that,", "Also", "Next,", "And", "When that is done,")


def first_sentence(text):
    return re.split(r"(?<=[.!?])\s|\n", text, maxsplit=1)[0]


def tool_text(name, server, description, parameters):
    """As the product writes a tool (`toolText`)."""
    head = f"{name} in {server}: {description}"
    return f"{head} ({', '.join(parameters)})" if parameters else head


def views_of(tool, chance):
    _, server, name, description, parameters = tool
    says_enough = len(name.split()) >= 2
    padding = " ".join(chance.sample(BOILERPLATE, chance.randint(1, 4)))
    return (
        tool_text(name, server, description, parameters),
        tool_text(name, server, "" if says_enough else description, parameters),
        tool_text(name, chance.choice(UNKNOWN_SERVERS), description or name, ()),
        tool_text(name, server, first_sentence(description), ()),
        tool_text(name, server, f"{description} {padding}", parameters),
    )


def lower_first(text):
    return text[0].lower() + text[1:] if len(text) > 1 and text[1].islower() else text


def without_end(text):
    return text.rstrip(".?! ")


def join(requests, chance):
    """One text that asks for all of these: in one sentence, in one sentence each, or with talk around it."""
    steps = [without_end(request) for request in requests]
    form = chance.random()
    if form < 0.35:
        listed = ", ".join(lower_first(step) for step in steps[:-1])
        return chance.choice(ASKING).format(listed + chance.choice(LINKS) + lower_first(steps[-1]))
    if form < 0.7:
        rest = [f"{chance.choice(NEXT)} {lower_first(step)}." for step in steps[1:]]
        return " ".join([f"{steps[0]}.", *rest])
    asked = [chance.choice(ASKING).format(lower_first(step)) for step in steps]
    return " ".join([chance.choice(OPENING), *asked, chance.choice(CLOSING)])


def joined_requests(tasks, tools, count, chance):
    """Half of them from one server, a third from one source, the rest from anywhere."""
    by_source, by_server = collections.defaultdict(list), collections.defaultdict(list)
    for task in tasks:
        source, request, right, _ = task
        if source not in NOT_JOINED and len(without_end(request)) > 1 and len(request) < JOINED_LENGTH:
            by_source[source].append(task)
            by_server[source, tools[right[0]][1]].append(task)
    servers = [asked for asked in by_server.values() if len(asked) >= 6]
    sources = list(by_source.values())
    for nth in range(count):
        sizes = (STEPS, STEP_SHARES) if nth < FEW_STEPS else (MANY_STEPS, MANY_STEP_SHARES)
        size = chance.choices(*sizes)[0]
        where = chance.random()
        if where < 0.8:
            pool = chance.choice(servers if where < 0.5 and servers else sources)
            parts = chance.sample(pool, min(size, len(pool)))
        else:
            parts = [chance.choice(chance.choice(sources)) for _ in range(size)]
        right = list(dict.fromkeys(tool for part in parts for tool in part[2]))
        yield ["joined", join([part[1] for part in parts], chance), right, "joined"]


class Requests:
    """Texts and what belongs to what. Texts lie in one table: each view of all tools, the requests, the requests as
    questions (`asked`)."""

    def __init__(self, file, tokenizer, joined, processes):
        chance = random.Random(SEED)
        with gzip.open(file, "rt", encoding="utf8") as lines:
            data = json.load(lines)
        tools, tasks = data["tools"], data["tasks"]
        tasks = tasks + list(joined_requests(tasks, tools, joined, chance))
        views = zip(*(views_of(tool, chance) for tool in tools))
        texts = [text for view in views for text in view]
        self.tool_count, self.task_count = len(tools), len(tasks)
        self.requests_at = len(texts)
        texts += [task[1] for task in tasks]
        self.asked_at = len(texts)
        texts += [asked(task, chance) for task in tasks]
        tool_tokens = encode_all(tokenizer, texts[: self.requests_at], TOOL_TOKENS, processes)
        request_tokens = encode_all(tokenizer, texts[self.requests_at :], REQUEST_TOKENS, processes)
        self.table = TokenTable(*(of_tools + of_requests for of_tools, of_requests in zip(tool_tokens, request_tokens)))
        self.sources = np.array([task[0] for task in tasks])
        self.tool_sources = np.array([tool[0] for tool in tools])
        first_joined = len(tasks) - joined
        # By request, how many of the joined ones come before it; below 0 for those that are not joined.
        self.joined_order = np.arange(len(tasks)) - first_joined
        right = np.full((len(tasks), MOST_TOOLS), -1, dtype=np.int64)
        for row, task in enumerate(tasks):
            first = task[2][:MOST_TOOLS]
            right[row, : len(first)] = first
        self.right = torch.from_numpy(right)
        self.right_count = (self.right >= 0).sum(1)

    def to(self, device):
        self.table.to(device)
        self.right, self.right_count = self.right.to(device), self.right_count.to(device)
        return self

    def weights(self, recipe):
        weights = np.array([SOURCE_WEIGHTS.get(source, 1.0) for source in self.sources])
        for source, factor in recipe.source_factors.items():
            weights[self.sources == source] *= factor
        weights[self.joined_order >= recipe.joined] = 0
        return weights

    def tools_beside(self, source):
        """Tools that are hard to tell apart for requests of this source."""
        if source == "joined":
            return np.arange(self.tool_count)
        of = SMALL_SOURCES if source in SMALL_SOURCES else (TOOLS_OF.get(source, source),)
        found = np.flatnonzero(np.isin(self.tool_sources, of))
        return found if len(found) > MOST_TOOLS else np.arange(self.tool_count)

    @torch.no_grad()
    def hard_negatives(self, vectors_of, count):
        """By request the most similar tools that are wrong, [requests, count], -1 where there are too few.
        `vectors_of(places)` embeds texts of the table."""
        device = self.right.device
        tools = vectors_of(torch.arange(self.tool_count, device=device))
        requests = vectors_of(self.requests_at + torch.arange(self.task_count, device=device))
        found = torch.full((self.task_count, count), -1, dtype=torch.long, device=device)
        for source in np.unique(self.sources):
            asked_here = torch.from_numpy(np.flatnonzero(self.sources == source)).to(device)
            beside = torch.from_numpy(self.tools_beside(source)).to(device)
            columns = tools[beside].T.contiguous()
            taken = min(count + MOST_TOOLS, len(beside))
            for rows in asked_here.split(2_048):
                similar = beside[(requests[rows] @ columns).topk(taken, 1).indices]
                is_right = (similar[:, :, None] == self.right[rows][:, None, :]).any(-1)
                # A stable order with the right ones last, and then cut off.
                order = is_right.to(torch.int8).sort(dim=1, stable=True).indices[:, :count]
                wrong = similar.masked_fill(is_right, -1).gather(1, order)
                found[rows, : wrong.shape[1]] = wrong
        return found


def asked(task, chance):
    """What manuals say, as a person would ask for it; what people said stays."""
    _, request, _, kind = task
    bare = without_end(request)
    if kind not in ("example", "self") or not bare:
        return request
    return chance.choice((*ASKING, "{}")).format(lower_first(bare))


def vectors_by(model, table):
    """Embeds texts of a table with this model, for `hard_negatives`."""
    return lambda places: embed(model, table, places, half=True)
