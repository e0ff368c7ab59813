"""Words that say the same, or less: what a sentence can be put in other words with and stay entailed.

Only what can be exchanged in nearly every sentence is here, with the words around it where a bare word has other meanings.
"""


def _lines(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(part.strip() for part in line.split("|")) for line in text.splitlines() if line.strip())


#: Each line: words and runs of words that can stand in one another's place.
SYNONYMS = _lines("""
    movie | film
    movies | films
    located in | situated in
    is known for | is famous for
    best known for | most famous for
    began | started
    begins | starts
    many | numerous
    because of | due to | owing to
    physician | doctor
    physicians | doctors
    attorney | lawyer
    built | constructed
    founded | established | set up
    helps | assists
    often | frequently | commonly
    usually | generally | typically
    mainly | primarily | chiefly | mostly
    significant | considerable | substantial
    essential | vital | crucial
    shows that | demonstrates that
    showed that | demonstrated that
    resides in | lives in
    took part in | participated in
    worked as | was employed as
    consists of | is made up of | is composed of
    result in | lead to
    results in | leads to
    resulted in | led to
    caused by | brought about by
    disease | illness
    diseases | illnesses
    car | automobile
    cars | automobiles
    the United States | the US | the USA | the U.S.
    the United Kingdom | the UK | Britain
    percent | per cent
    World War II | the Second World War
    World War I | the First World War
    currently | at present
    in order to | so as to
    almost | nearly
    the entire | the whole
    individuals | people
    occurs | happens
    occur | happen
    occurred | happened | took place
    discovered | found
    rapidly | quickly
    wealthy | rich
    famous | well-known | renowned
    difficult | hard
    died | passed away
    bought | purchased
    children | kids
    employed | hired
    allows | permits
    show that | demonstrate that
    used to be | was once
    ended | finished | came to an end
    wrote | penned
    university | college
    nation | country
    nations | countries
    big | large
    enormous | huge | vast
    attempted to | tried to
    attempts to | tries to
    provides | supplies
    gathered | collected
    chose | selected | picked
    rejected | turned down
    increase | rise
    has been called | has been described as
    is called | is referred to as | is known as
    is considered | is regarded as | is thought of as
    was awarded | was given
    was considered | was regarded as | was seen as
    moved to | relocated to
    joined | became a member of
    stepped down | resigned
    grew up in | was raised in
    taught at | was a teacher at
    studied at | was a student at
    graduated from | took a degree at
    starred in | had a leading part in
    performed | carried out
    investigated | looked into
    removed | took away
    replaced | took the place of
    supported | backed
    opposed | was against
    ranges from | goes from
    typical | characteristic
    main | principal | chief
    entirely | completely | wholly
    each year | every year | annually
    throughout the world | all over the world | around the globe
    worldwide | across the world
    depends on | hinges on
    ill | sick
    in total | altogether
    soon after | shortly after
    close to | near
""")

#: What can stand in one another's place before a number.
ROUGHLY = ("about", "approximately", "around", "roughly")

#: Words and what each of them is a case of, or can be put as: a sentence that says the first of something says the second.
BROADER = {
    line[0]: line[1]
    for line in _lines("""
    novelist | writer
    poet | writer
    playwright | writer
    guitarist | musician
    pianist | musician
    violinist | musician
    drummer | musician
    cellist | musician
    physicist | scientist
    chemist | scientist
    biologist | scientist
    astronomer | scientist
    footballer | athlete
    swimmer | athlete
    sprinter | athlete
    boxer | athlete
    daughter | child
    son | child
    brother | sibling
    sister | sibling
    mother | parent
    father | parent
    husband | spouse
    wife | spouse
    truck | vehicle
    oak | tree
    violin | instrument
    piano | instrument
    guitar | instrument
    surgeon | doctor
    senator | politician
    congressman | politician
    mayor | politician
    sonnet | poem
    novel | book
    cathedral | church
    sparrow | bird
    salmon | fish
    trout | fish
    puppy | dog
    kitten | cat
    murdered | killed
    assassinated | killed
    sprinted | ran
    was released | came out
    prior to | before
    obtained | got
    created | made
    nurses | health workers
    doubled | increased
    tripled | increased
    """)
}
