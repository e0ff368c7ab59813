"""localfact.yaml: every setting explained, read by commands, below what is typed, and refused where it is wrong."""

import json
from pathlib import Path

import pytest
from commands import QuickCommandLine
from typer.main import get_command
from typer.testing import CliRunner

from localfact.cli.main import COMMANDS, GROUPS, app
from localfact.cli.options import OPENING, fields_of
from localfact.cli.settings_file import OF_COMMANDS, defaults, read_settings, write_commented
from localfact.errors import InputError
from localfact.llm.cores import server
from localfact.methods.options import Options


@pytest.fixture
def localfact(tmp_path: Path) -> QuickCommandLine:
    return QuickCommandLine(tmp_path)


def written(folder: Path, text: str) -> Path:
    file = folder / "localfact.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_the_file_that_init_writes_explains_every_setting_and_sets_none(tmp_path: Path) -> None:
    assert read_settings(written(tmp_path, write_commented())) == {}
    for name in (*OF_COMMANDS, *Options.model_fields):
        assert f"\n# {name}:" in write_commented()


def test_every_default_that_init_writes_is_the_default(tmp_path: Path) -> None:
    lines = [
        line[2:] for line in write_commented().splitlines() if line[2:].split(":")[0] in {*OF_COMMANDS, *Options.model_fields}
    ]
    found = read_settings(written(tmp_path, "\n".join(lines)))
    assert Options(**{name: value for name, value in found.items() if name in Options.model_fields}) == Options()
    assert {name: found.get(name) for name in OF_COMMANDS} == {name: default for name, (_, default) in OF_COMMANDS.items()}


def test_what_is_typed_goes_before_the_file_and_the_file_before_defaults(localfact: QuickCommandLine, tmp_path: Path) -> None:
    written(tmp_path, "embedder: none\nk: 7\n")
    done = localfact("eval", "--plan", "--json", "--k", "2")
    settings = json.loads(done.stdout)["settings"]["evidence"]
    assert (settings["embedder"], settings["k"]) == (None, 2)
    assert done.stderr == "Settings from localfact.yaml: embedder, k.\n"
    assert json.loads(localfact("--config", "none", "eval", "--plan", "--json").stdout)["settings"]["evidence"]["k"] == 5


def test_a_setting_that_the_method_does_not_use_is_told_and_typed_it_is_refused(
    localfact: QuickCommandLine, tmp_path: Path
) -> None:
    written(tmp_path, "theta: 0.5\nk: 2\n")
    done = localfact("eval", "--plan", "--json")
    assert "The setting theta changes nothing in the method builtin-fr2" in done.stderr
    assert json.loads(done.stdout)["settings"]["evidence"]["k"] == 2
    refused = localfact("eval", "--plan", "--theta", "0.5")
    assert refused.returncode == 2
    assert "Methods that use it: fastfact, localfact." in refused.stderr


def test_a_list_in_the_file_is_an_option_given_several_times(localfact: QuickCommandLine, tmp_path: Path) -> None:
    written(tmp_path, "providers: [duckduckgo, altavista]\n")
    done = localfact("--trust-settings", "eval", "--corpus", "web", "--plan")
    assert "altavista" in done.stderr.partition("Error")[2]


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("searxng_url: http://search.example", "--searxng-url"),
        ("providers: [wikipedia]", "--provider"),
        ("allow_hosts: [127.0.0.0/8]", "--allow-host"),
        ("relations_cache: ../elsewhere.sqlite", "--relations-cache"),
        ("transcript: /tmp/elsewhere.sqlite", "--transcript"),
        ("endpoint: http://127.0.0.1:8000/v1", "--endpoint"),
        ("endpoint: http://gpu-box:8000/v1", "--endpoint"),
    ],
)
@pytest.mark.slow
def test_what_opens_something_is_typed_and_not_taken_from_the_file_alone(
    localfact: QuickCommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, typed: str
) -> None:
    monkeypatch.setattr(server, "FIRST_SECONDS", 0.1)  # nothing is served there
    written(tmp_path, text + "\nk: 2\n")
    name, _, value = text.partition(": ")
    refused = localfact("eval", "--plan")
    assert refused.returncode == 2
    assert f"opens what only you can open: {name}" in refused.stderr
    assert value.strip("[]") in refused.stderr
    assert "opens what" not in localfact("eval", "--plan", typed, value.strip("[]")).stderr
    assert "opens what" not in localfact("--trust-settings", "eval", "--plan").stderr


def test_a_corpus_of_the_file_is_read_and_not_added_to(localfact: QuickCommandLine, tmp_path: Path) -> None:
    written(tmp_path, "corpus: elsewhere\n")
    assert "opens what" not in localfact("eval", "--plan").stderr
    assert "corpus elsewhere (pages from the web are added" in localfact("eval", "--plan", "--provider", "wikipedia").stderr


def test_another_file_may_be_named_and_a_missing_one_is_an_error(localfact: QuickCommandLine, tmp_path: Path) -> None:
    (tmp_path / "big.yaml").write_text("k: 9\n")
    assert json.loads(localfact("--config", "big.yaml", "eval", "--plan", "--json").stdout)["settings"]["evidence"]["k"] == 9
    missing = localfact("--config", "small.yaml", "eval", "--plan")
    assert (missing.returncode, "small.yaml cannot be read" in missing.stderr) == (2, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("thta: 0.9", "there is no setting 'thta'. Did you mean theta?"),
        ("theta: 3", "--theta cannot be 3"),
        ("tables: [paper]", "--tables cannot be"),
        ("- theta", "one 'setting: value' a line"),
        ("theta: &a [*a]", "is not YAML"),
        ("k: {a: 1}", "k cannot be {'a': 1}"),
        ("engine_args: {trust-remote-code: true}", "trust_remote_code is no argument of the engine that a file may give"),
        ("engine_args: trust_remote_code=true", "Type it each time: --engine-arg trust_remote_code=VALUE"),
        ("engine_args: {worker_cls: evil.Worker}", "worker_cls is no argument"),
        ("engine_args: [hf_overrides.architectures=x]", "hf_overrides.architectures is no argument"),
        ("engine_args: max_model_len", "is not key=value"),
        ("max_words: hundred", "max_words cannot be 'hundred'"),
        ("concurrency: 0", "concurrency cannot be 0: input should be greater than or equal to 1"),
        ("offline: maybe", "offline cannot be 'maybe'"),
        ("block_hosts: [[a]]", "block_hosts cannot be"),
        ("k: yes", "k cannot be yes"),
    ],
)
def test_a_setting_that_cannot_be_is_named_with_its_file(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=r"localfact\.yaml") as raised:
        read_settings(written(tmp_path, text))
    assert said in str(raised.value)


def test_dates_and_numbers_need_no_quotation_marks(tmp_path: Path) -> None:
    found = read_settings(written(tmp_path, "before: 2023-09-30\nrecall_k: 3\nk: 7\nstride: 2\ncitations: yes\n"))
    assert found == {"before": "2023-09-30", "recall_k": "3", "k": 7, "stride": 2, "citations": True}
    assert read_settings(written(tmp_path, "before: 2019\n")) == {"before": "2019"}


def test_arguments_of_the_engine_may_be_a_mapping_and_one_value_of_several_may_stand_alone(tmp_path: Path) -> None:
    found = read_settings(written(tmp_path, "engine_args: {max_model_len: 8192}\nproviders: duckduckgo\nmodel:\n"))
    assert found == {"engine_args": ["max_model_len=8192"], "providers": ["duckduckgo"]}


def test_a_command_takes_what_it_has_as_an_option_of_methods_and_nothing_else() -> None:
    every = {**dict.fromkeys(Options.model_fields, "x"), **dict.fromkeys(OF_COMMANDS, "x")}
    found = defaults(every, COMMANDS, GROUPS)
    assert set(found["eval"]) == {*Options.model_fields, *OF_COMMANDS}
    assert "data" not in found["compare"]
    assert "relations" not in found["papers"]["table10"]  # a list there, of its own
    assert found["score"] == {"recall_k": "x"}
    assert found["corpus"]["search"] == found["show"] == found["models"]["list"] == {}
    assert {"corpus", "k"} & set(found["corpus"]["fetch"]) == set()


def test_runs_are_compared_whatever_the_file_says_of_methods(localfact: QuickCommandLine, tmp_path: Path) -> None:
    written(tmp_path, "k: 7\ndata: nowhere.jsonl\n")
    assert "needs two runs" in localfact("compare", "runs/one").stderr
    assert "are for --methods" in localfact("compare", "runs/one", "runs/two", "--k", "3").stderr


def test_what_is_typed_replaces_what_cannot_be_beside_it(localfact: QuickCommandLine, tmp_path: Path) -> None:
    written(tmp_path, "model: smollm2-135m\ntranscript: kept.sqlite\n")
    replayed = localfact("eval", "--replay", "other.sqlite", "--plan")
    assert "name only one" not in replayed.stderr
    assert "other.sqlite" in replayed.stderr
    assert "Not taken, beside what is typed: model, transcript." in replayed.stderr
    assert "name only one" in localfact("eval", "--replay", "o.sqlite", "--transcript", "t.sqlite", "--plan").stderr
    written(tmp_path, "replay: kept.sqlite\n")
    assert "kept.sqlite" not in localfact("eval", "--model", "nowhere", "--plan").stderr


def test_a_command_that_takes_nothing_of_it_does_not_read_the_file(localfact: QuickCommandLine, tmp_path: Path) -> None:
    written(tmp_path, "thta: 1\n")
    assert localfact("methods").returncode == 0
    assert localfact("eval", "--plan").returncode == 2
    assert localfact("--config", "localfact.yaml", "methods").returncode == 2  # it was named


def test_init_does_not_overwrite_unasked(localfact: QuickCommandLine, tmp_path: Path) -> None:
    assert localfact("init").returncode == 0
    (tmp_path / "localfact.yaml").write_text("thta: 1\n")
    again = localfact("init")
    assert (again.returncode, "is there already" in again.stderr) == (2, True)
    assert localfact("init", "--force").returncode == 0
    assert "# extraction_tokens: 2048" in (tmp_path / "localfact.yaml").read_text()


#: A value of each setting that opens something.
OPENED = {
    "providers": "wikipedia", "searxng_url": "http://a.example", "endpoint": "http://a.example", "allow_hosts": "a.example",
    "relations_cache": "x.sqlite", "transcript": "x.sqlite", "corpus": "x",
}  # fmt: skip


def commands_with_options() -> list[tuple[str, ...]]:
    every = [((name,), one) for name, one in COMMANDS.items()]
    for group, inner in GROUPS.items():
        every += [
            ((group, one.name or one.callback.__name__), one.callback) for one in inner.registered_commands if one.callback
        ]
    return [words for words, command in every if fields_of(command) & set(OPENING)]


@pytest.mark.parametrize("words", commands_with_options(), ids=" ".join)
@pytest.mark.slow
def test_no_command_takes_from_a_file_what_only_the_command_line_opens(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = get_command(app)
    for word in words:
        command = command.commands[word]
    required = [part for one in command.params if one.required for part in (*one.opts[-1:], "1")]
    typed = [part for part in required if part.startswith("--") or part == "1"]
    settings = {one.name for one in command.params}
    assert OPENED.keys() == OPENING.keys()
    for name in settings & set(OPENING) - ({"corpus"} if "providers" not in settings else set()):
        written(
            tmp_path, f"{name}: {OPENED[name]}\nproviders: wikipedia\n" if name != "providers" else "providers: wikipedia\n"
        )
        done = CliRunner().invoke(app, [*words, *typed])
        assert isinstance(done.exception, InputError), (name, done.output)
        assert f"{name} {OPENED[name]} (" in str(done.exception)
    assert {file.name for file in tmp_path.iterdir()} <= {"localfact.yaml"}


@pytest.mark.parametrize(
    "text",
    [
        f"recall_k: 0x{'f' * 6000}", f"0x{'f' * 6000}: 1", "data: /dev/zero", "hosts: /dev/zero", "hosts: " + "a" * 9_000,
        "model: /dev/stdin",
        "k: " + "a" * 200_000, "a" * 200_000 + ": 1", "# " + "a" * 300_000, "? [a, b]\n: 1", "\xff", "k: [" + "[" * 400,
        "method: 2020-01-01", "recall_k: " + "[" * 200 + "]" * 200,
    ],
)  # fmt: skip
def test_whatever_a_file_holds_is_one_short_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "localfact.yaml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError) as refused:
        read_settings(file)
    assert len(str(refused.value)) < 1000
