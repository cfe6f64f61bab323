"""The zoo: 101 animals and what they have, bundled so that examples of yes/no data need no download."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_FEATURES = (
    "hair feathers eggs milk airborne aquatic predator toothed backbone breathes venomous fins tail domestic "
    "catsize up_to_four_legs more_legs"
)

# Each animal with its seventeen answers as a number of five hexadecimal digits, the first answer in the highest bit.
_ANIMALS = """
aardvark:12786 antelope:12396 bass:04f32 bear:12786 boar:12796 buffalo:12396 calf:1239e carp:04b3a
catfish:04f32 cavy:1238a cheetah:12796 chicken:0d19a chub:04f32 clam:04402 crab:04c02 crayfish:04c01
crow:0d592 deer:12396 dogfish:04f36 dolphin:02fb6 dove:0d19a duck:0d992 elephant:12396
flamingo:0d196 flea:04081 frog:04f82 frog:04fc2 fruitbat:13392 giraffe:12396 girl:1278e gnat:05081
goat:1239e gorilla:12386 gull:0dd92 haddock:04b32 hamster:1239a hare:12392 hawk:0d592 herring:04f32
honeybee:150c9 housefly:15081 kiwi:0c592 ladybird:05481 lark:0d192 leopard:12796 lion:12796
lobster:04c01 lynx:12796 mink:12f96 mole:12792 mongoose:12796 moth:15081 newt:04f92 octopus:04c05
opossum:12792 oryx:12396 ostrich:0c196 parakeet:0d19a penguin:0cd96 pheasant:0d192 pike:04f36
piranha:04f32 pitviper:047d2 platypus:16d96 polecat:12796 pony:1239e porpoise:02fb6 puma:12796
pussycat:1279e raccoon:12796 reindeer:1239e rhea:0c596 scorpion:004d1 seahorse:04b32 seal:12fa6
sealion:12fb6 seasnake:00f52 seawasp:04c42 skimmer:0dd92 skua:0dd92 slowworm:04792 slug:04082
sole:04b32 sparrow:0d192 squirrel:12392 starfish:04c01 stingray:04f76 swan:0d996 termite:04081
toad:04b82 tortoise:04196 tuatara:04792 tuna:04f36 vampire:13392 vole:12392 vulture:0d596
wallaby:12396 wasp:150c1 wolf:12796 worm:04082 wren:0d192
"""


def load_zoo() -> Bunch:
    """Load the zoo data: which of 17 properties each of 101 animals has.

    Returns
    -------
    Bunch
        ``data`` (101 × 17, bool), ``sample_names`` (the animals), ``feature_names`` and ``DESCR``.

    Notes
    -----
    Collected by Richard Forsyth (1990), UCI Machine Learning Repository, CC BY 4.0. The number of legs is kept as "up
    to four" and "more", as in the tables that Boolean factorizations are compared on.

    Examples
    --------
    >>> from partwise.datasets import load_zoo
    >>> zoo = load_zoo()
    >>> [zoo.feature_names[j] for j in zoo.data[zoo.sample_names.index("penguin")].nonzero()[0]]
    ['feathers', 'eggs', 'aquatic', 'predator', 'backbone', 'breathes', 'tail', 'catsize', 'up_to_four_legs']
    """
    from sklearn.utils import Bunch

    pairs = [entry.split(":") for entry in _ANIMALS.split()]
    bits = [[digit == "1" for digit in f"{int(code, 16):017b}"] for _, code in pairs]
    return Bunch(
        data=np.array(bits, dtype=bool),
        sample_names=[name for name, _ in pairs],
        feature_names=_FEATURES.split(),
        DESCR="Zoo: 101 animals, 17 yes/no properties (Forsyth 1990; UCI Machine Learning Repository, CC BY 4.0).",
    )
