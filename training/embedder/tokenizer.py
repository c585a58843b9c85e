"""BERT's WordPiece tokenizer (Devlin et al., 2018; uncased), which the product uses too."""

import gzip
import json
import multiprocessing
import re
import unicodedata
from array import array

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
SPECIAL = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")
ASCII_PIECES = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")
ASCII_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
LONGEST_WORD = 100
# As in the product: far more than 256 tokens of any script.
MOST_CHARACTERS = 16_384
# Words cut into pieces once are remembered; beyond this many the memory starts over.
MOST_REMEMBERED = 500_000

CHINESE = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class Tokenizer:
    def __init__(self, vocabulary):
        self.vocabulary = vocabulary
        self.remembered = {}

    @staticmethod
    def read(path):
        with gzip.open(path, "rt", encoding="utf8") as file:
            return Tokenizer(json.load(file))

    def encode(self, text, most):
        """Token ids of one text with [CLS] and [SEP], the latter kept when the text is cut to `most` tokens."""
        ids = []
        for part in SPECIAL.split(text[:MOST_CHARACTERS]):
            if SPECIAL.fullmatch(part):
                ids.append(self.vocabulary[part])
            else:
                for word in words_of(part):
                    ids.extend(self.pieces(word))
            if len(ids) > most:
                break
        return [self.vocabulary[START], *ids[: most - 2], self.vocabulary[END]]

    def pieces(self, word):
        """The longest known beginnings, one after the other; [UNK] for the whole word when none fits."""
        known = self.remembered.get(word)
        if known is None:
            if len(self.remembered) > MOST_REMEMBERED:
                self.remembered.clear()
            known = self.remembered[word] = self.cut(word)
        return known

    def cut(self, word):
        unknown = [self.vocabulary[UNKNOWN]]
        if len(word) > LONGEST_WORD:
            return unknown
        ids, first = [], 0
        while first < len(word):
            last = len(word)
            prefix = "##" if first else ""
            while last > first and prefix + word[first:last] not in self.vocabulary:
                last -= 1
            if last == first:
                return unknown
            ids.append(self.vocabulary[prefix + word[first:last]])
            first = last
        return ids


def words_of(text):
    if text.isascii():
        return ASCII_PIECES.findall(ASCII_CONTROLS.sub("", text).lower())
    spaced = "".join(cleaned(text))
    bare = "".join(c for c in unicodedata.normalize("NFD", spaced) if unicodedata.category(c) != "Mn")
    separated = "".join(f" {c} " if is_punctuation(c) else c for c in bare.lower())
    return separated.split()


def cleaned(text):
    """Without control characters, each kind of blank as a space, and Chinese characters as words of their own."""
    for c in text:
        if c in "\t\n\r":
            yield " "
        elif c in "\0\ufffd" or unicodedata.category(c) in ("Cc", "Cf", "Co", "Cs"):
            continue
        elif c.isspace():
            yield " "
        elif any(low <= ord(c) <= high for low, high in CHINESE):
            yield f" {c} "
        else:
            yield c


def is_punctuation(c):
    if c.isascii():
        return not c.isalnum() and not c.isspace()
    return unicodedata.category(c).startswith("P")


_shared = None


def _start_worker(vocabulary):
    global _shared
    _shared = Tokenizer(vocabulary)


def _encode_part(job):
    texts, most = job
    lengths, flat = array("i"), array("i")
    for text in texts:
        ids = _shared.encode(text, most)
        lengths.append(len(ids))
        flat.extend(ids)
    return lengths, flat


def encode_all(tokenizer, texts, most, processes):
    """Lengths and token ids of all texts, end to end. Call it before CUDA starts: processes are forked."""
    size = 8_192
    jobs = [(texts[i : i + size], most) for i in range(0, len(texts), size)]
    lengths, flat = array("i"), array("i")
    if processes > 1 and len(jobs) > 1:
        pool = multiprocessing.get_context("fork").Pool(processes, _start_worker, (tokenizer.vocabulary,))
        with pool:
            parts = pool.map(_encode_part, jobs, chunksize=1)
    else:
        _start_worker(tokenizer.vocabulary)
        parts = map(_encode_part, jobs)
    for part_lengths, part_flat in parts:
        lengths.extend(part_lengths)
        flat.extend(part_flat)
    return lengths, flat
