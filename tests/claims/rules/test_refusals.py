import pytest

from localfact.claims.rules.extractor import RuleExtractor
from localfact.claims.rules.refusals import refuses
from localfact.records import Response


async def claims(text: str) -> tuple[list[str], dict[str, int]]:
    found = await RuleExtractor().extract(Response(id="r", text=text))
    return [claim.text for claim in found.claims], dict(found.dropped)


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I could not find anyone of that name.",
        "I am unable to provide details about this painter. There are several people with that name. Can you tell me more?",
        "There is no reliable information about this person.",
        "Lo siento, pero no dispongo de datos sobre esa pintora. Si me das más detalles, puedo intentarlo.",
        "Leider habe ich keine Angaben zu dieser Malerin gefunden. Bitte nennen Sie mir weitere Einzelheiten.",
        "Désolé, je ne trouve aucune information sur cette peintre.",
        "Mi dispiace, non ho trovato informazioni su questa pittrice.",
        "Desculpe, não encontrei informações sobre essa pintora.",
        "Het spijt me, ik kan geen informatie over deze schilder vinden.",
        "很抱歉，我无法提供这位画家的资料。如果您有更多信息，请告诉我。",
        "申し訳ありませんが、その画家の情報は見つかりませんでした。",
        "죄송하지만 그 화가에 대한 정보를 찾을 수 없습니다.",
        "Zu dieser Malerin ist mir nichts bekannt.",
        "No dispongo de datos sobre esa pintora. Le recomiendo buscar en un museo.",
        "Przykro mi, nie znalazłem informacji o tej malarce.",
        "Maalesef bu ressam hakkında bilgi bulamadım.",
        "Tyvärr kan jag inte hitta någon information om den målaren.",
        "عذراً، لم أجد معلومات عن هذه الرسامة.",
        "There is no well known painter or public figure of that name. Could you tell me more?",
        "К сожалению, мне не удалось найти информацию об этой художнице.",
    ],
)
async def test_a_refusal_states_nothing_in_any_of_these_languages(text: str) -> None:
    found, dropped = await claims(text)
    assert found == []
    assert set(dropped) == {"abstention"}


@pytest.mark.parametrize(
    "text",
    [
        "I could not find much about her youth. Ada Morel was born in Lyon.",
        "As an AI model, I do not have access to news. However, Ada Morel was born in Lyon.",
        "Ada Morel was born in Lyon. I could not find much about her youth.",
        "There is no information about her youth. She left it untold. Ada Morel was born in Lyon.",
        "Sorry, I can't speak for her, but Ada Morel was born in Lyon.",
        "While I have no access to her letters, Ada Morel was born in Lyon.",
        "I don't know much about her. That said, Ada Morel was born in Lyon.",
        "I could not find her letters. What is known is that Ada Morel was born in Lyon.",
    ],
)
async def test_a_caveat_beside_a_statement_drops_itself_alone(text: str) -> None:
    found, dropped = await claims(text)
    assert "Ada Morel was born in Lyon." in found
    assert "abstention" not in dropped


@pytest.mark.parametrize(
    ("said", "counted"),
    [
        ("I can't speak for her, but", {"talk about the answer": 1}),
        ("While I have no access to her letters,", {"talk about the answer": 1}),
        ("I was born in Rome, but", {"talk about the answer": 1}),
        ("As far as I know,", {}),
    ],
)
async def test_what_is_said_of_oneself_in_front_of_a_statement_is_counted(said: str, counted: dict[str, int]) -> None:
    assert await claims(f"{said} Ada Morel was born in Lyon.") == (["Ada Morel was born in Lyon."], counted)


async def test_the_items_of_a_list_below_a_caveat_are_statements() -> None:
    response = Response(id="r", topic="Ada Morel", text="I could not find her letters.\n\n- Born: 4 May 1950\n- Died: 2001")
    found = await RuleExtractor().extract(response)
    assert [claim.text for claim in found.claims] == ["Ada Morel was born on 4 May 1950.", "Ada Morel died in 2001."]


async def test_what_is_stated_beside_a_caveat_in_another_language_stays() -> None:
    found, dropped = await claims("No tengo información sobre su juventud. Ada Morel nació en Lyon y murió en París.")
    assert found == ["Ada Morel nació en Lyon y murió en París."]
    assert dropped == {"abstention": 1}


@pytest.mark.parametrize(
    "sentence",
    [
        '"I cannot provide that," he said in 1990.',
        "Er konnte keine Arbeit finden.",
        "Elle n'a pas trouvé de travail.",
        "他没有找到工作。",
        "She could not find work in Lyon.",
    ],
)
def test_what_somebody_else_could_not_do_is_no_refusal(sentence: str) -> None:
    assert not refuses(sentence)
