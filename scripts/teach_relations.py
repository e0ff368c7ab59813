"""Teaches a small relation model by a large one, whole, once: pairs, labels, student, export; and decides whether it ships.

    python -m scripts.teach_relations DATA [--size 1500 ...] [--portion 300] [--until labels] [--base FOLDER] [--work FOLDER]
    python -m scripts.teach_relations DATA --size 6000 --decide

DATA is the folder of public data sets. Each step goes on where it was interrupted, and what is done is only read: pairs, the
teacher's labels (the committed ones are not asked for again; `--portion` stops after so many), the training on sentences, the
training on windows for each size, and the int8 file. Development pairs are of topics that are not learned from. Nothing but
`--decide` looks at what the student is judged by.

The rule, written before any student was trained to the end. Against word overlap with values (`--relations lexical`), by a
paired bootstrap of 2,000 resamples, the student ships if
1. openfactcheck's area under the ROC (builtin-fr2, given claims and their passages, over responses) is better: the lower end of
   the difference's 95 % interval is above 0;
2. on the minimal pairs, both directions together (the true claim leans to entailment, the false one to contradiction; over
   passages), it is better in the same sense;
3. SummEdits' balanced accuracy, the mean over domains, is not worse: the difference is 0 or more;
4. its file is at most 30 MB, and it reads 60 development pairs a second on this machine.
Otherwise nothing ships. The size is the largest that is labelled; no other is tried on what decides.
"""

import argparse
import time
from pathlib import Path

from localfact.models.cards import load_card, weights_folder
from localfact.models.files import ONNX_FILE
from localfact.models.onnx import OnnxModel, OnnxTokenizer
from localfact.relations.values.correcting import finding_of
from localfact.report.console import note
from scripts.teaching.labels import Labels, in_order, kept_lessons, label, read_labels
from scripts.teaching.pairs import SIZES, Lessons, sentence_pairs
from scripts.teaching.reading import read_pair

#: Epochs and highest learning rates of the two stages.
SENTENCES, WINDOWS = (2, 5e-5), (4, 5e-5)
#: The share of the pairs that must be labelled; the teacher may fail at some.
LEAST_LABELLED, MOST_MEGABYTES, LEAST_PAIRS_A_SECOND = 0.99, 30, 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of public data sets")
    parser.add_argument("--size", type=int, action="append", choices=SIZES, help=f"pairs to learn from; default: {SIZES}")
    parser.add_argument("--until", choices=("labels", "export"), default="export", help="the last step that is made")
    parser.add_argument("--portion", type=int, default=10_000, help="the most pairs that the teacher labels")
    parser.add_argument("--decide", action="store_true", help="apply the rule to the student of the one size")
    parser.add_argument("--base", type=Path, help="the encoder's folder; default: that of the card minilm")
    parser.add_argument("--work", type=Path, default=Path("runs/teach"))
    chosen = parser.parse_args()
    every, sizes = kept_lessons(chosen.data, chosen.work), chosen.size or list(SIZES)
    due = in_order(Lessons(every.training[: max(sizes)], every.development), SIZES[0])
    note(f"{label(due, chosen.work, chosen.portion):,} pairs labelled")
    labels = read_labels(chosen.work)
    for size in sizes if chosen.until == "export" else ():
        if sum(one.key in labels for one in every.training[:size]) < LEAST_LABELLED * size:
            raise SystemExit(f"The teacher has not labelled the first {size:,} pairs yet.")
        teach(chosen, every, size, labels)
    if chosen.decide:
        from scripts.teaching.decision import decide

        (size,) = sizes
        print(decide(chosen.data, chosen.work / f"student-{size}", chosen.work / "decision"))


def teach(chosen: argparse.Namespace, every: Lessons, size: int, labels: Labels) -> None:
    """Trains a student on the first so many pairs, writes its files, and prints how it does on the development pairs."""
    from scripts.onnx_export import export
    from scripts.teaching import student

    base = chosen.base or weights_folder(load_card("minilm"))
    tokenizer = OnnxTokenizer(base)
    model = student.new_student(base)
    sentences = student.items_of(sentence_pairs(chosen.data), {}, tokenizer)
    student.train(model, student.Stage("sentences", sentences, *SENTENCES), chosen.work)
    items = student.items_of([one for one in every.training[:size] if one.key in labels], labels, tokenizer)
    student.train(model, student.Stage(f"windows-{len(items)}", items, *WINDOWS), chosen.work)
    watched = student.items_of(every.development, labels, tokenizer)
    logits = student.logits_of(model, watched)
    temperature = student.best_temperature(logits, watched)
    out = chosen.work / f"student-{size}"
    export(model, base, out, temperature=temperature)
    shipped, began = OnnxModel(out), time.monotonic()
    finding_of.cache_clear()
    for one in every.development:
        shipped.outputs(read_pair(tokenizer, one.pair).fields)
    pace, megabytes = len(every.development) / (time.monotonic() - began), (out / ONNX_FILE).stat().st_size / 1e6
    loss, agreement, own = student.measure(logits / temperature, watched)
    print(
        f"{len(items):,} pairs: cross-entropy with the teacher {loss:.4f}, agreement {agreement:.3f} (own labels {own:.3f}) "
        f"({len(watched)} development pairs; temperature {temperature:.2f}); {megabytes:.1f} MB (at most {MOST_MEGABYTES}), "
        f"{pace:.0f} pairs a second on one core (at least {LEAST_PAIRS_A_SECOND})"
    )


if __name__ == "__main__":
    main()
