"""Sentences that could be said of anybody, and so state nothing: "Recognition came quickly", "The choice was controversial"."""

import re

_ABSTRACT = (
    r"(?:acclaim|accolades|admiration|ambition|applause|attention|challenges?|change|choice|collaboration|concept|contributions?|"
    r"controvers(?:y|ies)|criticism|dates?|debate|decision|dedication|efforts?|experience|fame|feedback|fortune|future|honou?rs|idea|"
    r"impact|influence|innovation|interest|journey|legacy|life|move|notoriety|opinions?|outcome|outlook|passion|path|popularity|praise|"
    r"question|reactions?|reception|recognition|reputation|response|rest|results?|reviews?|rise|road|significance|situation|stakes|"
    r"stardom|story|struggles?|success|support|talent|tension|timing|transition|work)"
)
_VAGUE = (
    r"(?:clear|complex|complicated|considerable|controversial|crucial|debated|decisive|deep|different|difficult|divided|divisive|easy|"
    r"enormous|essential|far-reaching|great|hard|high|historic|huge|immediate|immense|important|impressive|remarkable|inevitable|invaluable|key|lasting|"
    r"limited|massive|mixed|much|negative|notable|obvious|overwhelming|polarizing|positive|profound|rapid|real|rewarding|short-lived|"
    r"significant|slow|smooth|strong|substantial|successful|sudden|swift|tireless|tough|tremendous|undeniable|unexpected|vital|vast|"
    r"warm|wide|widespread|disappointments?|failures?|success(?:es)?|"
    r"turning points?|milestones?|well[- ]received|(?:received|regarded|respected|praised|criticized|recognized))"
)
_COMES = (
    r"(?:came|come|comes|followed|follows|grew|grows|mattered|matters|paid off|spread|varied|vary|varies|remains?|continued|"
    r"continues|endures?|endured|arrived|faded|began|persisted|(?:did|does|do)(?: not|n['’]t) come)"
)
_BE = r"(?:was|were|is|are|has been|have been|remained|remains|proved|became|seemed)"
_DEGREE = r"(?: (?:not|also|both|an?|the|so|too|well|[a-z]+ly|very|quite))*"
_OF_WHAT = r"(?: (?:for|of|to|about|among|around|over|from) (?:[a-z'’]+ ){0,4}[a-z'’]+)?"
#: The whole of such a sentence; one with a name or a number in it may state something all the same.
FILLER = re.compile(
    rf"\A(?i:(?:[\w'’]+ ){{0,3}}{_ABSTRACT}{_OF_WHAT}"
    rf"(?:(?: (?:also|soon|eventually|finally|later|quickly|then|often))? {_COMES}\b.{{0,40}}|"
    rf" {_BE}{_DEGREE} {_VAGUE}\b.{{0,40}}| (?:is|was) history|speaks? for (?:itself|themselves)))[.!]$|"
    rf"\A(?i:(?:it|this|that) (?:was|is) (?:an?|the) (?:\w+ )?(?:success|failure|turning point|milestone))[.!]$|"
    r"\A(?i:only time will tell|time will tell|the rest is history|the possibilities are endless|times were (?:hard|tough)|"
    r"(?:much|a lot|everything|things) (?:has |have |had |was |were )?(?:changed|changing)|"
    r"it (?:was|is) (?:not|never|no|hardly) easy)\b"
)
