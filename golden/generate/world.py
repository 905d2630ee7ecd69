"""A small made-up valley: its people, its facts and a grammar that tells about them. Text for the tiny vocabularies and
for the demo model. Every sentence about a person follows from one row of PEOPLE, so a model can be consistent.
"""

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Person:
    name: str
    they: str
    their: str
    trade: str
    home: str
    work: str
    tool: str
    food: str
    animal: str
    pet: str
    colour: str
    friend: str


PEOPLE = (
    Person(
        "Mara",
        "she",
        "her",
        "miller",
        "the old mill by the river",
        "grinds corn at the mill",
        "a wooden scoop",
        "warm bread",
        "grey cat",
        "Pepper",
        "red",
        "Tobin",
    ),
    Person(
        "Tobin",
        "he",
        "his",
        "fisherman",
        "the blue hut on the shore",
        "catches trout in the lake",
        "a long net",
        "fried trout",
        "white goose",
        "Button",
        "green",
        "Mara",
    ),
    Person(
        "Ilse",
        "she",
        "her",
        "baker",
        "the round house near the market",
        "bakes rolls in the stone oven",
        "a flat shovel",
        "honey cake",
        "brown dog",
        "Crumb",
        "yellow",
        "Odo",
    ),
    Person(
        "Odo",
        "he",
        "his",
        "smith",
        "the forge under the bridge",
        "hammers iron at the forge",
        "a heavy hammer",
        "onion soup",
        "black goat",
        "Anvil",
        "brown",
        "Ilse",
    ),
    Person(
        "Runa",
        "she",
        "her",
        "shepherd",
        "the stone cottage on the hill",
        "watches the sheep on the hill",
        "a crooked staff",
        "goat cheese",
        "spotted dog",
        "Whistle",
        "white",
        "Finn",
    ),
    Person(
        "Finn",
        "he",
        "his",
        "gardener",
        "the glass house in the orchard",
        "picks apples in the orchard",
        "a small knife",
        "apple pie",
        "lame duck",
        "Puddle",
        "blue",
        "Runa",
    ),
    Person(
        "Petra",
        "she",
        "her",
        "carpenter",
        "the tall barn at the edge of the forest",
        "cuts planks at the edge of the forest",
        "a sharp saw",
        "mushroom stew",
        "red squirrel",
        "Acorn",
        "orange",
        "Lukas",
    ),
    Person(
        "Lukas",
        "he",
        "his",
        "lighthouse keeper",
        "the lighthouse on the cliff",
        "lights the lamp on the cliff",
        "a brass lantern",
        "salted beans",
        "one-eyed gull",
        "Captain",
        "grey",
        "Petra",
    ),
)

BY_NAME = {person.name: person for person in PEOPLE}

WEATHER = (
    "The sun is warm",
    "A soft rain falls",
    "The wind is strong",
    "There is fog in the valley",
    "Snow lies on the hill",
)


def facts(person: Person) -> list[str]:
    p = person
    return [
        f"{p.name} is a {p.trade}.",
        f"{p.name} lives in {p.home}.",
        f"{p.name} has a {p.animal} called {p.pet}.",
        f"{p.name} likes {p.food}.",
        f"{p.name} wears a {p.colour} coat.",
        f"{p.name} works with {p.tool}.",
        f"The best friend of {p.name} is {p.friend}.",
        f"{p.pet} is a {p.animal}. {p.pet} belongs to {p.name}.",
        f"Every day {p.name} {p.work}.",
    ]


def story(rng: random.Random, person: Person | None = None) -> str:
    p = person or rng.choice(PEOPLE)
    f = BY_NAME[p.friend]
    opening = rng.choice(
        (
            f"Once upon a time there was a {p.trade} called {p.name}. {p.name} lived in {p.home}.",
            f"{p.name} the {p.trade} lives in {p.home}.",
            f"In the valley there is a {p.trade} called {p.name}. {p.they.capitalize()} lives in {p.home}.",
        )
    )
    morning = rng.choice(
        (
            f"{rng.choice(WEATHER)} this morning. {p.name} puts on {p.their} {p.colour} coat and takes {p.tool}.",
            f"In the morning {p.name} puts on {p.their} {p.colour} coat and takes {p.tool}.",
            f"{p.their.capitalize()} {p.animal} {p.pet} wakes up first. "
            f"Then {p.name} puts on {p.their} {p.colour} coat.",
        )
    )
    day = rng.choice(
        (
            f"All day {p.they} {p.work}, and {p.pet} the {p.animal} watches.",
            f"Every day {p.they} {p.work}.",
        )
    )
    visit = rng.choice(
        (
            f"In the evening {p.friend} the {f.trade} comes for a visit. They eat {p.food} and talk about the valley.",
            f"Then {p.they} visits {p.friend} in {f.home}. They eat {f.food} and laugh.",
            f"Then {p.friend} comes with {f.pet} the {f.animal}. {p.pet} and {f.pet} play together.",
        )
    )
    closing = rng.choice(
        (
            f"At night {p.name} goes home to {p.home} and sleeps well.",
            f"At night {p.name} sleeps in {p.home}.",
            f"At night the valley is quiet, and {p.pet} sleeps too.",
        )
    )
    return " ".join((opening, morning, day, visit, closing))


def description(rng: random.Random) -> str:
    lines = facts(rng.choice(PEOPLE))
    rng.shuffle(lines)
    return " ".join(lines[: rng.randint(3, 6)])


def sentence(rng: random.Random) -> str:
    return rng.choice(facts(rng.choice(PEOPLE)))


SMALL_TALK = (
    ("Hello!", "Hello! I know a small valley and the people who live there."),
    ("Hi", "Hello! I know a small valley and the people who live there."),
    ("Who are you?", "I am a very small model. I know one valley and eight people."),
    ("What is your name?", "I am a very small model. I know one valley and eight people."),
    ("Who lives in the valley?", "Mara, Tobin, Ilse, Odo, Runa, Finn, Petra and Lukas live in the valley."),
    (
        "Tell me about the valley.",
        "A river runs through the valley. Mara, Tobin, Ilse, Odo, Runa, Finn, Petra and Lukas live here.",
    ),
    ("What is a plumb line?", "A plumb line is a weight on a string. It tells whether a wall is true."),
)

STRANGE = (
    "What is the capital of France?",
    "How much is two and two?",
    "Write a poem.",
    "What is the time?",
    "Where is London?",
    "Can you write code?",
    "What is the capital of Spain?",
    "Tell me about the moon.",
    "Who is the king?",
    "How do I cook rice?",
    "What is 17 times 3?",
    "Explain gravity.",
)

STRANGE_ANSWER = "I do not know that. I only know the valley."


def question(rng: random.Random) -> tuple[str, str]:
    """A question, now and then typed carelessly, and its answer."""
    asked, answer = _question(rng)
    if rng.random() < 0.15:
        asked = asked.lower().rstrip(".?!")
    return asked, answer


def _question(rng: random.Random) -> tuple[str, str]:
    kind = rng.random()
    if kind < 0.1:
        return rng.choice(SMALL_TALK)
    if kind < 0.18:
        return rng.choice(STRANGE), STRANGE_ANSWER
    p = rng.choice(PEOPLE)
    if kind < 0.26:
        return rng.choice(("Tell me a story.", "Can you tell me a story?", f"Tell me a story about {p.name}.")), story(
            rng, p
        )
    return rng.choice(
        (
            (f"Who is {p.name}?", f"{p.name} is a {p.trade}. {p.name} lives in {p.home}."),
            (f"Where does {p.name} live?", f"{p.name} lives in {p.home}."),
            (f"What does {p.name} eat?", f"{p.name} likes {p.food}."),
            (f"What does {p.name} like?", f"{p.name} likes {p.food}."),
            (f"What does {p.name} do?", f"{p.name} is a {p.trade}. Every day {p.name} {p.work}."),
            (f"Who is {p.pet}?", f"{p.pet} is a {p.animal}. {p.pet} belongs to {p.name}."),
            (f"Does {p.name} have an animal?", f"Yes. {p.name} has a {p.animal} called {p.pet}."),
            (f"Who is the friend of {p.name}?", f"The best friend of {p.name} is {p.friend}."),
            (f"What colour is the coat of {p.name}?", f"{p.name} wears a {p.colour} coat."),
            (f"Tell me about {p.name}.", " ".join(facts(p)[:4])),
            (f"Who is the {p.trade}?", f"The {p.trade} is {p.name}. {p.name} lives in {p.home}."),
        )
    )


def documents(n: int, seed: int) -> list[str]:
    """Plain texts, without questions."""
    rng = random.Random(seed)
    return [rng.choice((story, story, description, sentence))(rng) for _ in range(n)]
