"""The words that the rules of hard_pairs look for and put in: opposites, sisters (one excludes the others), names.

Only words that are safe to exchange in most sentences are here; those with a second common meaning are left out.
"""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


MONTHS = _words("January February March April May June July August September October November December")
WEEKDAYS = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
ORDINALS = _words("first second third fourth fifth sixth seventh eighth ninth tenth")
NUMBER_WORDS = _words("zero one two three four five six seven eight nine ten eleven twelve")
NATIONALITIES = _words(
    """American English French German Italian Spanish Portuguese Dutch Belgian Swiss Austrian Swedish Norwegian Danish
    Finnish Polish Czech Hungarian Romanian Bulgarian Greek Turkish Russian Ukrainian Irish Scottish Welsh Canadian
    Mexican Brazilian Argentine Chilean Peruvian Colombian Cuban Japanese Chinese Korean Indian Pakistani Indonesian
    Filipino Thai Vietnamese Australian Egyptian Moroccan Nigerian Kenyan Ethiopian Israeli Iranian Iraqi Lebanese
    Icelandic"""
)

#: Each line: words that exclude one another and can stand in one another's place.
SISTERS = tuple(
    tuple(line.split())
    for line in """
    father brother uncle cousin grandfather
    mother sister aunt grandmother
    novel film album painting poem opera musical documentary
    novelist painter composer architect sculptor
    drummer guitarist pianist violinist bassist
    goalkeeper midfielder striker defender
    gold silver bronze copper
    red blue green yellow purple orange brown pink
    spring summer autumn winter
    hospital museum library theatre prison factory school airport
    river mountain lake desert
    heart liver lung kidney brain stomach
    hours days weeks months years decades centuries
    miles kilometres kilometers metres meters feet
    million billion thousand
    baseball football basketball hockey tennis cricket rugby golf
    mathematics chemistry biology economics philosophy law medicine
    physicist chemist biologist economist philosopher lawyer physician
    Catholic Protestant Muslim Jewish Buddhist Hindu
    oxygen nitrogen hydrogen helium carbon
    bacteria viruses fungi
    dogs cats horses cows sheep
    president secretary treasurer
    north south east west
    northern southern eastern western
    """.splitlines()
    if line.strip()
)

#: Each line: a word and one that contradicts it in its place; both ways.
OPPOSITES = tuple(
    (line.split()[0], line.split()[1])
    for line in """
    increase decrease
    increases decreases
    increased decreased
    increasing decreasing
    rose fell
    rises falls
    rising falling
    gained lost
    won lost
    wins loses
    winning losing
    victory defeat
    winner loser
    before after
    earlier later
    earliest latest
    allow forbid
    allows forbids
    allowed forbade
    permitted prohibited
    legal illegal
    include exclude
    includes excludes
    included excluded
    encourage discourage
    encourages discourages
    encouraged discouraged
    accepted rejected
    approved rejected
    supported opposed
    supports opposes
    agreed refused
    succeeded failed
    successful unsuccessful
    opened closed
    began ended
    begins ends
    started stopped
    bought sold
    higher lower
    highest lowest
    high low
    larger smaller
    largest smallest
    bigger smaller
    biggest smallest
    longer shorter
    longest shortest
    older younger
    oldest youngest
    faster slower
    better worse
    best worst
    stronger weaker
    strongest weakest
    strong weak
    hotter colder
    warmer cooler
    hot cold
    rich poor
    richer poorer
    richest poorest
    wider narrower
    heavier lighter
    majority minority
    maximum minimum
    positive negative
    public private
    guilty innocent
    acquitted convicted
    inside outside
    above below
    upper lower
    everyone nobody
    always never
    often rarely
    frequently seldom
    usually rarely
    common rare
    safe dangerous
    easy difficult
    easier harder
    same different
    possible impossible
    present absent
    internal external
    domestic foreign
    urban rural
    male female
    husband wife
    son daughter
    brother sister
    actor actress
    alive dead
    improved worsened
    improves worsens
    strengthened weakened
    expanded contracted
    accelerated slowed
    raised lowered
    added removed
    created destroyed
    remembered forgot
    praised criticized
    denied confirmed
    denies confirms
    arrived departed
    imports exports
    imported exported
    permanent temporary
    voluntary compulsory
    professional amateur
    rejects accepts
    abolished introduced
    hired dismissed
    promoted demoted
    appeared disappeared
    visible invisible
    popular unpopular
    profit loss
    surplus deficit
    prevents causes
    prevent cause
    """.splitlines()
    if line.strip()
)

#: The same, but the second word has other uses where the first could not stand.
ONE_WAY_OPPOSITES = {
    "reduce": "increase",
    "reduces": "increases",
    "reduced": "increased",
    "entered": "left",
    "joined": "left",
    "similar": "different",
}

#: What a quantity word says, and one in its place that contradicts it.
QUANTITIES = {
    "many": "few",
    "few": "many",
    "most": "few",
    "several": "no",
    "some": "no",
    "numerous": "no",
    "half": "a tenth",
    "always": "never",
    "never": "always",
    "often": "never",
    "frequently": "never",
    "usually": "never",
    "sometimes": "never",
    "rarely": "often",
    "both": "neither",
    "every": "not every",
    "all": "not all",
}

COUNTRIES = _words(
    """Argentina Australia Austria Belgium Brazil Bulgaria Canada Chile China Colombia Cuba Denmark Egypt Ethiopia
    Finland France Germany Ghana Greece Hungary Iceland India Indonesia Iran Iraq Ireland Israel Italy Japan Kenya
    Lebanon Malaysia Mexico Morocco Nepal Netherlands Nigeria Norway Pakistan Peru Poland Portugal Romania Russia
    Scotland Singapore Spain Sweden Switzerland Syria Thailand Turkey Uganda Ukraine Vietnam Wales"""
)
STATES = _words(
    """Alabama Alaska Arizona Arkansas California Colorado Connecticut Delaware Florida Hawaii Idaho Illinois Indiana
    Iowa Kansas Kentucky Louisiana Maine Maryland Massachusetts Michigan Minnesota Mississippi Missouri Montana
    Nebraska Nevada Ohio Oklahoma Oregon Pennsylvania Tennessee Texas Utah Vermont Virginia Wisconsin Wyoming"""
)
CITIES = (
    *_words(
        """London Paris Berlin Rome Madrid Vienna Amsterdam Brussels Lisbon Dublin Edinburgh Glasgow Manchester Liverpool
    Birmingham Munich Hamburg Milan Venice Florence Naples Barcelona Seville Prague Budapest Warsaw Athens Istanbul
    Moscow Stockholm Oslo Copenhagen Helsinki Tokyo Kyoto Beijing Shanghai Seoul Mumbai Delhi Bangkok Jakarta Sydney
    Melbourne Toronto Montreal Vancouver Chicago Boston Philadelphia Detroit Houston Dallas Seattle Denver Atlanta
    Miami Baltimore Cleveland Pittsburgh Cairo Nairobi Lagos Jerusalem"""
    ),
    "New York City",
    "Los Angeles",
    "San Francisco",
    "Buenos Aires",
    "Mexico City",
    "Cape Town",
)
CONTINENTS = ("Africa", "Europe", "Asia", "South America", "North America", "Antarctica")
#: The last word of a name that tells an organisation; exchanged only with names that end alike.
ORGANISATIONS = frozenset(
    _words(
        """University College Institute Company Corporation Museum Hospital Party Bank Records Church Association Orchestra
    Academy School Club Council Ministry Department"""
    )
)
FIRST_NAMES = frozenset(
    _words(
        """Aaron Adam Albert Alex Alexander Alfred Alice Amanda Amy Andrew Angela Ann Anna Anne Anthony Antonio Arthur
    Barbara Ben Benjamin Bernard Bill Bob Brian Bruce Carl Carlos Carol Caroline Catherine Charles Charlie Charlotte
    Chris Christian Christina Christine Christopher Claire Clara Daniel David Diana Donald Dorothy Douglas Edgar
    Edith Edward Eleanor Elizabeth Ellen Emily Emma Eric Ernest Eva Evelyn Florence Francis Frank Franklin Fred
    Frederick Gary George Gerald Gordon Grace Graham Greg Hannah Harold Harry Heather Helen Henry Herbert Howard
    Hugh Ian Isaac Jack Jackie Jacob James Jane Janet Jason Jean Jeff Jennifer Jessica Jim Joan Joe John Johnny
    Jonathan Jordan Jose Joseph Joshua Juan Judy Julia Julian Julie Karen Karl Kate Katherine Keith Kenneth Kevin
    Larry Laura Lawrence Lee Leo Leonard Lewis Linda Lisa Louis Louise Lucy Luke Margaret Maria Marie Mark Martha
    Martin Mary Matt Matthew Max Michael Michelle Mike Miguel Nancy Nathan Neil Nicholas Nick Nicole Oliver Oscar
    Patricia Patrick Paul Peter Philip Rachel Ralph Ray Raymond Rebecca Richard Robert Robin Roger Ronald Rose Roy
    Russell Ruth Ryan Sam Samuel Sandra Sarah Scott Sean Sharon Simon Sophia Stanley Stephen Steve Steven Stuart
    Susan Ted Terry Theodore Thomas Tim Tom Tony Victor Victoria Vincent Virginia Walter Warren Wayne William"""
    )
)
LAST_NAMES = _words(
    """Abbott Barker Calloway Dawson Ellery Fielding Garrick Hartley Iverson Jessop Kendrick Lockwood Merrill Norcross
    Oakley Pemberton Quimby Radcliffe Stanton Thackeray Underhill Vance Whitlock Yardley Zeller Okafor Lindqvist
    Moreau Tanaka Castellano Novak Petrov Haddad Mendoza"""
)

#: Past form and infinitive where no rule gives it.
IRREGULAR_PASTS = dict(
    pair.split("/")
    for pair in _words(
        """was/be became/become began/begin bought/buy brought/bring built/build came/come caught/catch chose/choose did/do
    drew/draw drove/drive fell/fall felt/feel fought/fight found/find flew/fly gave/give got/get grew/grow held/hold
    kept/keep knew/know led/lead left/leave lost/lose made/make met/meet paid/pay ran/run rose/rise said/say
    sang/sing saw/see sent/send sold/sell spent/spend spoke/speak stood/stand swam/swim taught/teach took/take
    told/tell thought/think threw/throw understood/understand went/go won/win wore/wear wrote/write broke/break
    ate/eat drank/drink sank/sink stole/steal struck/strike swore/swear withdrew/withdraw overcame/overcome
    sought/seek"""
    )
)
#: Verbs of the third person present and their infinitives; a noun in the plural is none of them.
PRESENTS = dict(
    pair.split("/")
    for pair in _words(
        """lives/live works/work contains/contain includes/include has/have produces/produce makes/make gives/give
    plays/play owns/own runs/run teaches/teach consists/consist serves/serve provides/provide causes/cause
    requires/require grows/grow remains/remain features/feature allows/allow helps/help takes/take needs/need
    uses/use belongs/belong comes/come becomes/become begins/begin means/mean refers/refer depends/depend
    involves/involve describes/describe lies/lie stands/stand occurs/occur creates/create holds/hold offers/offer
    covers/cover gets/get keeps/keep affects/affect determines/determine represents/represent receives/receive"""
    )
)
