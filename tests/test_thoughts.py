import pytest

from localfact.thoughts import Thoughts, find_thoughts, thoughts, without_thoughts


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>Was it Lyon?</think>It was Paris.", "It was Paris."),
        ("<Thinking>\nLyon?\n</Thinking>\nIt was Paris.", "\nIt was Paris."),
        ("Perhaps Lyon.\n</think>\nIt was Paris.", "\nIt was Paris."),
        ("Was it Lyon?</think> It was Paris.", " It was Paris."),
        ("It was Paris. <think>Or Lyon?</think> It is old.", "It was Paris.  It is old."),
        ("<reasoning>Lyon, I think.", ""),
        ("[THINK]Lyon?[/THINK]It was Paris.", "It was Paris."),
        ("◁think▷Lyon?◁/think▷It was Paris.", "It was Paris."),
        ("<|begin_of_thought|>Lyon?<|end_of_thought|>It was Paris.", "It was Paris."),
        ("<|START_THINKING|>Lyon?<|END_THINKING|>It was Paris.", "It was Paris."),
        ("<|channel|>analysis<|message|>Lyon?<|end|><|start|>assistant<|channel|>final<|message|>Paris.<|return|>", "Paris."),
        ("<|channel|>commentary to=web.run <|constrain|>json<|message|>{}<|call|>", ""),
        ("analysisIt may be Lyon.assistantfinalIt was Paris.", "It was Paris."),
        ("<inner_monologue>Lyon?</inner_monologue>It was Paris.", "It was Paris."),
        ("&lt;think&gt;Lyon?&lt;/think&gt;It was Paris.", "It was Paris."),
        ("Thinking...\nLyon?\n...done thinking.\n\nIt was Paris.", "It was Paris."),
        ('<details type="reasoning" done="true">\n> Lyon?\n</details>It was Paris.', "It was Paris."),
        ("Here is my thought process:\nLyon?\n\nHere is my response:\nIt was Paris.", "\nIt was Paris."),
        ("<analysis>Lyon?</analysis>It was Paris.", "It was Paris."),
        ("<analysis>It was Paris.</analysis>", None),
        ("Thinking... is what it does.\nIt was Paris.", None),
        ("The model writes `<think>` first. It ends with `</think>`.", None),
        ("The tag <think> is spoken of here. [thinking] He left.", None),
        ("An analysis of Paris.", None),
    ],
)
def test_thoughts_of_every_family_are_told_from_the_answer(text: str, answer: str | None) -> None:
    assert without_thoughts(text) == (text if answer is None else answer)


def test_thoughts_before_an_answer_end_where_it_begins() -> None:
    assert thoughts("<think>Hm.</think> Yes. <think>No?</think>") == Thoughts("<think>Hm.</think>", 18)
    assert thoughts("Yes. <think>No?</think>") == Thoughts("", 0)
    assert find_thoughts("") == []
