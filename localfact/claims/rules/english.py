"""What the rules know of English: finite verbs, names, which clauses stand alone, and how to mask quotations.

No tagger: closed lists of frequent forms, and endings. Words that are not covered are left as they are.
"""

import re

BE = r"(?:is|are|was|were)\b"
HAVE = r"(?:has|have|had)\b"
MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_AUXILIARIES = (
    r"is|are|was|were|isn't|aren't|wasn't|weren't|has|have|had|hasn't|haven't|hadn't|does|did|didn't|doesn't|can|cannot|can't|could|"
    r"will|won't|would|may|might|must"
)
_PAST_FORMS = (
    r"became|began|bore|bought|broke|brought|built|came|caught|chose|drew|drove|fell|felt|flew|fought|found|gave|got|grew|heard|held|"
    r"hit|kept|knew|laid|lay|led|left|lent|lost|made|meant|met|paid|put|ran|rose|said|sang|sat|saw|sent|set|shot|sold|sought|spent|"
    r"spoke|spread|stood|struck|swam|taught|thought|threw|told|took|underwent|went|withdrew|won|wore|wrote"
)
_PRESENT_FORMS = (
    r"allows|appears|belongs|begins|comes|connects|consists|contains|continues|covers|depicts|describes|earns|emits|enjoys|explores|"
    r"follows|gives|grows|helps|holds|includes?|involves|keeps|knows|leads|lies|lives|makes|means|occurs|operates|owns|produces|"
    r"provides|receives|refers|remains|represents|resides|runs|serves|specializes|speaks|stands|supports|takes|teaches|tells|uses|wins|"
    r"works|writes"
)
_ED_FORM = (
    r"(?!(?:red|need|seed|speed|feed|hundred|sacred|indeed|breed|naked|embed|exceed|succeed|proceed|talented|gifted|skilled|famed)\b)"
    r"[a-z][a-z-]*ed"
)

#: A past form, or one that may be.
PAST = rf"(?:(?:was|were|had|did|didn't|{_PAST_FORMS}|{_ED_FORM})\b)"
#: A finite verb, or a form that may be one.
VERB = rf"(?:(?:{_AUXILIARIES}|{_PAST_FORMS}|{_PRESENT_FORMS}|{_ED_FORM})\b)"
_PAST_ONLY = (
    r"became|began|bore|broke|came|chose|drew|drove|fell|flew|gave|grew|knew|ran|rose|sang|sat|saw|spoke|stood|swam|threw|took|"
    r"underwent|went|withdrew|wore|wrote"
)
_NO_PASSIVE = (
    r"appeared|arrived|belonged|collapsed|competed|consisted|continued|debuted|died|emerged|ended|existed|graduated|happened|lasted|"
    r"lived|met|occurred|originated|participated|peaked|remained|resigned|resulted|retired|returned|served|worked"
)
_PLURAL_NOUNS = r"covers|holds|leads|lives|means|runs|stands|supports|uses|works"
_S_FORM = r"(?!(?:always|besides|perhaps|series|sometimes|species|various)\b)[a-z]{2,}[^\Waisu_]s"
_AFTER_VERB = (
    r"an?|the|his|her|its|their|it|him|them|that|in|on|at|to|by|with|from|for|as|into|over|until|through|under|several|many|numerous|"
    r"more|two|three|up|out|away|there|[a-z]+ly"
)
#: A finite verb, not a noun or adjective, where two phrases are joined: a regular form must be followed as verbs are.
JOINED_VERB = rf"(?:(?:{_AUXILIARIES}|{_PAST_FORMS}|{_PRESENT_FORMS})\b|{_ED_FORM}(?= (?:(?:{_AFTER_VERB})\b|[A-Z0-9\"“])))"
#: What a verb acts on, by its first word, with the space before it.
OBJECT = (
    r" (?:(?:an?|the|his|her|its|their|it|him|them|that|this|these|all|both|many|more|most|no|one|over|several|some|two|"
    r"three)\b|[A-Z\d$€£\"“])"
)
#: A verb that is surely finite after a noun: a form that may be a participle or a plural must be followed by an object.
FINITE = (
    rf"(?:(?:{_AUXILIARIES}|{_PAST_ONLY}|{_NO_PASSIVE}|(?!(?:{_PLURAL_NOUNS})\b)(?:{_PRESENT_FORMS}))\b|"
    rf"(?!(?:called|dubbed|named|(?:en)?titled)\b)(?:{_PAST_FORMS}|{_ED_FORM}|{_S_FORM})(?={OBJECT}))"
)
#: A participle that follows a form of "have".
PARTICIPLE = rf"(?:(?:been|become|born|built|gone|held|led|made|sold|taught|won|written|{_ED_FORM})\b)"
#: A participle that, after a form of "be", is read as passive too.
PASSIVE = (
    r"(?:(?:adapted|appointed|awarded|based|brought|buried|built|called|considered|directed|educated|elected|established|founded|held|"
    r"inducted|known|located|made|named|nominated|ordained|produced|published|raised|recognized|regarded|released|situated|sold|"
    rf"translated|used|won|written)\b|{_ED_FORM} by\b)"
)
#: A noun for a person, by its ending or by a short list: "actor", "poet".
AGENT = (
    r"(?:\w{2,}(?:[^\We]er|[ts]or|ist|ian|ant|wright|man|woman|tress)|poet|chef|king|queen|actress|pilot|athlete|judge|monk|nun|priest|"
    r"diplomat|scholar|spy|surgeon|coach|comic|host|guitarist|critic|academic|aristocrat|general|saint|pope|diva|novelist|mystic|cleric|"
    r"bishop|hero|heroine|prince|princess|duke|count|boxer|activist|model|entrepreneur|advocate|amateur|aviator|architect|executive)"
)
#: Words that do not vouch for what is said.
HEDGE = re.compile(
    r"\b(?:may|might|could|reportedly|allegedly|supposedly|purportedly|rumou?red|believed|thought|alleged|claimed|claims|supposed|"
    r"hoped|planned|wanted|intended|tried|refused|failed|threatened|promised)\b"
)
#: A participle that says how somebody is or is seen, and is no finite verb where nothing follows that it acts on.
STATE = (
    r"(?:acclaimed|admired|aligned|appreciated|associated|celebrated|committed|concerned|connected|convinced|credited|dedicated|"
    r"delighted|determined|devoted|disappointed|dressed|enchanted|engaged|esteemed|excited|exhausted|fascinated|filled|hono[u]?red|"
    r"inspired|interested|involved|loved|motivated|pleased|praised|prepared|prized|recogni[sz]ed|regarded|related|respected|revered|"
    r"satisfied|surprised|surrounded|thrilled|tired|valued|welcomed|worried)\b"
)
#: An adverb before a verb, with the space behind it.
ADVERB = r"(?:(?:also|best|currently|eventually|later|now|often|once|soon|still|subsequently|then|[a-z]{3,}ly) )"
_CAPITALISED = r"[A-Z\u00c0-\u00de][\w.'’&-]*"
_SMALL_WORDS = r"(?:(?:of|de|da|del|van|von|der|du|la|le|the|for|in|bin|al) ){0,3}"
#: A name: capitalised words, small words between them, numbers and hidden quotations among them.
NAME = rf"(?:{_CAPITALISED}(?: {_SMALL_WORDS}(?:{_CAPITALISED}|\d+|[\"“]_+[\"”])){{0,9}})"
#: The subject of a sentence, at its beginning or after an introduction: a pronoun, a name, or a short phrase with an article.
SUBJECT = (
    r"(?:(?:[Hh]e|[Ss]he|[Ii]t|[Tt]hey)\b|"
    r"(?:[Tt]he|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir|An?)(?: [\w'’&.-]+){1,7}?|"
    r"(?:[Tt]his|[Tt]hese)(?: [\w'’&.-]+){0,7}?|"
    rf"{NAME})(?: \(_+\))?"
)
_STATED = re.compile(rf"(?:(?!\b(?:that|who|which)\b).)+ {FINITE}")
# What may extend over a comma: a condition, a clause in front, an open list, or a word that governs the clauses on both sides.
_GOVERNING = re.compile(
    r"^(?:If|Not|Once|Unless|When|Whenever|Where)\b|^(?:After|Although|As|Because|Before|Since|Though|Until|While)\b[^,]*$|:|"
    r"\b(?:because|how|if|not only|unless|what|when|whether|where|whom|whose|why|"
    rf"argued|believe[ds]|claim(?:s|ed)|felt|said|says|thought|(?:that|which|who)(?! {ADVERB}?{VERB}))\b"
)
# "The group" is one that was named before.
_LEANING_SUBJECT = re.compile(
    r"\b(?:I|he|she|it|they|we|you|former|latter|last|next|ones?|others?|remaining|rest|same|this|these)\b|"
    r"\b(?:of|to) (?:it|them|th[eo]se)\b|^(?:the [\w'’-]+|many|most|several|some)$|"
    # "The sum the state paid" has a relative clause without its pronoun.
    r" (?!(?:about|and|at|between|by|for|from|in|of|on|or|over|to|under|with)\b)[\w'’-]+ (?:an?|the|his|her|its|their)\b"
)
_LEANING = re.compile(
    r"\b(?:each|instead|likewise|respectively|so that|vice versa)\b|\bboth\b(?! [^,;]{1,40} and\b)|\btoo\b(?! \w)|:$"
)


def stand_alone(before: str, subject: str, after: str) -> bool:
    """Returns whether two clauses are surely two statements, and the second, with that subject, is clear without the first.

    Between them stand a comma and "and", "but" or "while". False for a conditional, reported or unfinished clause.
    """
    leaning = _LEANING_SUBJECT.search(subject) or _LEANING.search(after)
    return bool(_STATED.match(before)) and not _GOVERNING.search(before) and not leaning


def is_or_are(label: str) -> str:
    """Returns the form of "be" behind a short noun phrase, by the ending of its noun."""
    noun = re.split(r" (?:at|by|for|from|in|of|on|to|with) ", label)[0]
    return "are" if re.search(r"[^ius\W]s$| and ", noun) else "is"


_HIDDEN = re.compile(
    r"\"[^\"]{1,200}\"|“[^“”]{1,200}”|«[^«»]{1,200}»|(?<!\w)'[A-Z][^']{1,100}'(?!\w)|‘[^‘’]{1,100}’(?!\w)|\([^()]{1,200}\)"
)


def mask(sentence: str) -> str:
    """Replaces text in quotation marks and parentheses by as many underscores, so that no rule sees it."""
    return _HIDDEN.sub(lambda hidden: hidden[0][0] + "_" * (len(hidden[0]) - 2) + hidden[0][-1], sentence)
