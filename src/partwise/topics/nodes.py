"""Nested groups of topics, and the nodes of a topic tree that they become."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Group:
    """Topics that belong together, and the groups inside.

    Parameters
    ----------
    topics : tuple of int
        Topics of the model in this group.
    inside : list of Group
        Groups that it is made of; empty for a leaf.
    similarity : float or None
        How alike the groups inside are; None for leaves.
    profile : array of shape (n_features,), optional
        The words of a group that is a part of one topic; that of other groups is the sum of their topics.
    share : float
        How much of its topic such a part is.
    """

    topics: tuple[int, ...]
    inside: list[Group] = field(default_factory=list)
    similarity: float | None = None
    profile: np.ndarray | None = None
    share: float = 1.0


@dataclass
class Node:
    """One node of a topic tree.

    Parameters
    ----------
    id : int
        Its place in `TopicTree.nodes_`; 0 is the root.
    parent : int or None
        The node above; None for the root.
    children : list of int
        The nodes below, by falling weight.
    depth : int
        Steps from the root.
    topics : tuple of int
        Topics of the model that are under this node, in order.
    topic : int or None
        The topic that this node is; None for groups of topics, and for parts of one topic (method "divisive").
    weight : float
        Share of all that the topics explain, 0 to 1.
    words : list of (str, float)
        Leading features, largest first, with their share of the node.
    importance : float or None
        For models with labels: how much its topics matter for telling classes apart, 0 to 1.
    similarity : float or None
        How alike its topics are where they were joined; None for leaves.
    """

    id: int
    parent: int | None
    children: list[int] = field(default_factory=list)
    depth: int = 0
    topics: tuple[int, ...] = ()
    topic: int | None = None
    weight: float = 0.0
    words: list[tuple[str, float]] = field(default_factory=list)
    importance: float | None = None
    similarity: float | None = None

    @property
    def name(self) -> str:
        """A short title: its number if it is a topic, and its first three words."""
        title = " ".join(word for word, _ in self.words[:3])
        return title if self.topic is None else f"{self.topic}: {title}".rstrip(": ")


def collapsed(group: Group) -> Group:
    """The same groups without those that have a single group inside, which says the same twice.

    Parameters
    ----------
    group : Group
        Any groups.

    Returns
    -------
    Group
        Every group has none or at least two groups inside. Of a chain of groups with the same topics the last stays,
        which is the most similar one.
    """
    while len(group.inside) == 1:
        group = group.inside[0]
    return Group(
        group.topics, [collapsed(one) for one in group.inside], group.similarity, group.profile, group.share
    )


def with_leaves(group: Group) -> Group:
    """The same groups, where each that has no groups inside has its topics as leaves.

    Parameters
    ----------
    group : Group
        Any groups.

    Returns
    -------
    Group
        The leaves are single topics.
    """
    inside = [with_leaves(one) for one in group.inside]
    if not inside and len(group.topics) > 1:
        inside = [Group((one,)) for one in group.topics]
    return Group(group.topics, inside, group.similarity, group.profile, group.share)


def leaves_of(group: Group) -> Iterator[Group]:
    """The groups that have no groups inside.

    Parameters
    ----------
    group : Group
        Any groups.

    Yields
    ------
    Group
        From left to right.
    """
    if not group.inside:
        yield group
    for one in group.inside:
        yield from leaves_of(one)


def walk(group: Group, depth: int = 0) -> Iterator[tuple[int, Group]]:
    """Groups with their depths, each before those inside it.

    Parameters
    ----------
    group : Group
        Any groups.
    depth : int
        That of the group itself.

    Yields
    ------
    tuple
        Depth and group.
    """
    yield depth, group
    for one in group.inside:
        yield from walk(one, depth + 1)
