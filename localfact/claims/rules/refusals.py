"""Recognises sentences that decline to answer, in English and in the languages that chat models most often decline in."""

import re

from localfact.claims.rules.english import mask

# What may stand at the beginning of a sentence: a label, a connective.
START = (
    r"\A(?:[^:]{1,60}: )?(?:(?:Additionally|Also|And|But|Finally|First|Furthermore|However|Instead|Moreover|Next|Overall|"
    r"Second|So|Sorry|Then|Therefore|Third|Unfortunately),? )?"
)
_NOT_ABLE = (
    r"(?:cannot|can['’]t|could not|couldn['’]t|did not|didn['’]t|do not|don['’]t|(?:was )?not able to|(?:was )?unable to|"
    r"have no|not (?:aware|familiar|sure)|no)"
)
_DO = (
    r"(?:find|provide|have|access|answer|assist|help|verify|fulfill|comply|know|information|details|data|record|with|of|"
    r"locate|recall|"
    r"confirm)"
)
_ENGLISH = (
    rf"(?:{START}|, (?:but )?)I(?:['’]m| am|['’]ve| have)? {_NOT_ABLE} (?:\w+ )?{_DO}\b",
    (
        rf"{START}[Tt]here (?:is|are) no (?:[\w-]+ ){{0,4}}(?:information|individuals?|person|public figure|records?) "
        r"(?:available|about|(?:by|of|with) (?:that|this) name|named|known|in my)\b"
    ),
    rf"{START}[Nn]o (?:\w+ )?information (?:is|was|could be) (?:available|found)\b",
    r"\b(?:does not|is not|did not)\b.{0,80}\bsearch results?\b|\bsearch results? (?:do|does|did|is|are) not\b",
)
# The first person says no, or that there is nothing.
_SPANISH = (
    r"\b(?i:no (?:tengo|dispongo|cuento|poseo|encontré|encuentro|he podido|he encontrado|pude|puedo|logré|existe|"
    r"me es posible|hay))\b.{0,60}(?i:informaci|datos|encontrar|proporcionar|ayudar|respond|detalles|acceso|verificar|"
    r"registros|conocimiento|person)"
)
_PORTUGUESE = (
    r"\b(?i:não (?:tenho|encontrei|consegui|posso|disponho|há|foi possível))\b"
    r".{0,60}(?i:informa|encontrar|dados|ajud|respond|acesso|fornecer|pessoa)"
)
_ITALIAN = (
    r"\b(?i:non (?:ho|dispongo|posso|riesco|sono riuscit\w|sono in grado|ci sono|è possibile))\b"
    r".{0,60}(?i:informazion|trov|aiut|rispond|dati|fornire)"
)
_FRENCH = (
    r"\b(?i:je (?:ne |n['’])(?:dispose|possède|ai|peux|trouve|suis|connais|parviens|sais|puis))\b.{0,30}\b"
    r"(?i:pas|aucune?|rien)\b|\b(?i:aucune information (?:n['’]est|disponible|trouvée|sur)|il m['’]est impossible|"
    r"il n['’]y a (?:pas d['’]|aucune )information)"
)
_GERMAN = (
    r"\b(?i:(?:ich|wir)\b.{0,60}\b(?:keine[nrs]?|nichts?)|(?:(?:ist|liegen|sind|stehen) (?:mir|uns)|"
    r"(?:mir|uns) (?:ist|liegen|sind|stehen))\b.{0,60}\b(?:keine[nr]?|nichts?))\b.{0,80}"
    r"(?i:information|angaben|daten|find|gefunden|beantwort|helfen|zugriff|zugang|bekannt|auskunft|bereitstell)"
)
_DUTCH = r"\b(?i:ik)\b.{0,60}\b(?i:geen|niet)\b.{0,60}(?i:informatie|vinden|gevonden|helpen|gegevens|beantwoord)"
_RUSSIAN = (
    r"(?i:не (?:могу|удалось|наш[её]л|нашла|располагаю|имею|смогл?а?)|у меня нет|нет информации)"
    r".{0,60}(?i:информаци|данны|найти|помочь|ответ|сведени)"
)
_POLISH = (
    r"\b(?i:nie (?:mam|posiadam|mogę|znalazł\w*|udało mi się|znam))\b.{0,60}(?i:informac|danych|znale|pomóc|odpowied|osob)"
)
_TURKISH = (
    r"(?i:bilgi|yardımcı|veri|kayıt|cevap|yanıt).{0,40}(?i:bulamadım|bulunamadı|yok\b|sahip değilim|olamam|edemem|veremem)"
)
_SWEDISH = (
    r"\b(?i:jag|jeg)\b.{0,40}\b(?i:inte|ikke|ingen|inget|inga)\b.{0,60}"
    r"(?i:information|hitta|finde|finne|hjälp|hj[æe]lp|svar|opplysning)"
)
_INDONESIAN = r"\b(?i:saya)\b.{0,40}\b(?i:tidak)\b.{0,60}(?i:informasi|menemukan|membantu|data|menjawab)"
_VIETNAMESE = r"(?i:tôi).{0,40}(?i:không).{0,60}(?i:thông tin|tìm thấy|giúp|trả lời|dữ liệu)"
_ARABIC = r"(?:لا|ليس|لم|لست).{0,60}(?:معلومات|بيانات|العثور|أجد|مساعد|الإجابة)"
_HINDI = r"(?:जानकारी|सूचना|मदद|उत्तर).{0,60}(?:नहीं)"
_CHINESE = (
    r"(?:抱歉|对不起|對不起|很遗憾|很遺憾|不好意思).{0,40}[没沒无無不未]|"
    r"我.{0,10}(?:没有|沒有|无法|無法|未能|不能|找不到).{0,30}(?:信息|资料|資料|資訊|找到|提供|回答|帮助|幫助|查到)"
)
_JAPANESE = (
    r"(?:申し訳|すみません|恐れ入り|残念).{0,60}ません|情報.{0,20}(?:見つかりません|ありません|持って(?:い)?ません)|"
    r"(?:お答え|回答)できません"
)
_KOREAN = r"(?:죄송|미안|유감).{0,60}(?:없|못)|정보.{0,20}(?:없|찾을 수 없)"
_REFUSAL = re.compile(
    "|".join(
        (
            *(*_ENGLISH, _SPANISH, _PORTUGUESE, _ITALIAN, _FRENCH, _GERMAN, _DUTCH, _SWEDISH, _POLISH, _RUSSIAN, _TURKISH),
            *(_ARABIC, _HINDI, _CHINESE, _JAPANESE, _KOREAN, _INDONESIAN, _VIETNAMESE),
        ),
    )
)
# What follows a refusal and states nothing: a request, an offer, a guess why nothing is known.
_FOLLOWS = re.compile(
    r"\b(?i:please|por favor|bitte|veuillez|s['’]il vous plaît|prego|per favore|пожалуйста)\b|请|請|ください|주세요|"
    r"如果(?:您|你)|"
    r"\b(?i:si (?:me|vous|tu|puedes|puede|necesitas|tienes)|wenn (?:sie|du)|falls (?:sie|du)|se (?:você|puoi|hai|vuoi)|"
    r"als je|(?:le|te|les) (?:recomiendo|sugiero|aconsejo)|ich empfehle|könnten sie|(?:je|nous) vous (?:recommande|"
    r"conseille|suggère)\w*|ti consiglio|recomendo|polecam)\b|建议(?:您|你)|建議(?:您|你)|(?:您|你)可以|おすすめします|"
    r"\b(?i:there (?:are|may be|might be|could be) (?:likely |probably )?(?:many|several|multiple|other|"
    r"various) (?:\w+ )?(?:people|individuals|persons))|"
    r"\b(?i:(?:not|n['’]t|no) (?:be )?(?:a )?(?:well-known|widely known|public figure|notable|famous))\b|"
    r"\b(?i:(?:it is|it['’]s) (?:\w+ )?possible that|(?:may|might) not (?:be|have)|without (?:more|further|additional))\b|"
    r"\b(?i:the name (?:is|may|could|might)|a (?:common|fairly common) name|violation|privacy|"
    r"private individual)\b"
)


def refuses(sentence: str) -> bool:
    """Whether a sentence without markup declines to answer."""
    return bool(_REFUSAL.search(mask(sentence)))


def follows_refusal(sentence: str) -> bool:
    """Whether a sentence behind a refusal only explains it, or asks for more."""
    return refuses(sentence) or bool(_FOLLOWS.search(sentence))
