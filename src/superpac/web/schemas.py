"""What the page's API takes and gives, as it stands in the OpenAPI schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from superpac.session.spec import DEFAULT_AFFINITY, DEFAULT_STRATEGY

Item = Annotated[int, Field(ge=0, le=2**53 - 1, strict=True, description="Number of an item.")]
Number = Annotated[int, Field(ge=0, le=2**53 - 1, description="Number of an item.")]
Seq = Annotated[int, Field(ge=0, le=2**53 - 1, strict=True, description="Number of an event.")]
Key = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9_-]{8,64}$",
        description="Drawn by the client, one per act: the same key again changes nothing.",
    ),
]
PLAIN = r"^[^\x00-\x1f\x7f]*$"
Name = Annotated[
    str, Field(max_length=80, pattern=PLAIN, description="Who is speaking; may be empty.")
]
Shape = Annotated[
    Literal["pair", "strip", "wall", "board", "best"],
    Field(
        description="Two items; one beside groups; items or groups beside a group's face; "
        "whichever mends most per second."
    ),
]
Order = Annotated[
    Literal["sure", "unsure"], Field(description="Surest first, or least sure first.")
]
Took = Annotated[int | None, Field(ge=0, le=86_400_000, description="Milliseconds it took.")]


class Act(BaseModel):
    """Something a person does."""

    model_config = ConfigDict(extra="forbid")

    annotator: Name = ""
    key: Key


class Wish(BaseModel):
    """Wish for a question."""

    model_config = ConfigDict(extra="forbid")

    annotator: Name = ""
    shape: Shape = "pair"
    item: Item | None = None
    other: Item | None = None
    was: Name | None = Field(None, description="A name given up: its question is free again.")


class Answer(Act):
    """An answer to a pair."""

    i: Item
    j: Item
    answer: Literal["same", "different", "unsure"]
    seq: Seq
    elapsed_ms: Took = None
    shape: Shape = "pair"


class Choice(Act):
    """What a person marked of that which an item was shown beside."""

    item: Item
    form: Literal["strip", "wall", "board"] = "strip"
    options: list[Item] = Field(min_length=1, max_length=24)
    marked: list[Item] = Field(
        max_length=24,
        description="In a strip the groups that the item belongs to (empty: none of them), on a "
        "wall the items that do not belong, on a board the groups that are one with the first.",
    )
    seq: Seq
    elapsed_ms: Took = None
    shape: Shape = "strip"


class Skip(Act):
    """A pair to be postponed."""

    i: Item
    j: Item
    seq: Seq
    shape: Shape = "pair"


class Aside(Act):
    """An item to be set aside, or put back."""

    item: Item
    back: bool = False
    shape: Shape = "pair"


class Back(Act):
    """An act to be taken back or put back; the last one if no number is given."""

    seq: Seq | None = None
    shape: Shape = "pair"


class Naming(Act):
    """A name for the cluster that an item is in; an empty one takes its name away."""

    item: Item
    name: str = Field(max_length=80, pattern=PLAIN)


class Arrange(Act):
    """An act on groups: what is done, to which items, and where to."""

    act: Literal["move", "merge", "split", "join", "exclude", "aside", "back"]
    items: list[Item] = Field(min_length=1, max_length=8000)
    to: Item | None = Field(None, description="For a move, an item of the group to move to.")
    name: str | None = Field(None, min_length=1, max_length=80, pattern=PLAIN)


class Keep(Act):
    """Answers in doubt that are right all the same."""

    seqs: list[Seq] = Field(min_length=1, max_length=100)


class Decision(Act):
    """How a disagreement is settled."""

    second: Seq
    keep: Literal["first", "second"]


class NewSession(BaseModel):
    """A new session on the same data."""

    model_config = ConfigDict(extra="forbid")

    n_clusters: Annotated[int, Field(ge=1, le=10_000, strict=True)] | Literal["auto"]
    affinity: str = Field(DEFAULT_AFFINITY, max_length=200)
    strategy: str = Field(DEFAULT_STRATEGY, max_length=50)
    dim: int | None = Field(None, ge=1, le=1000)
    seed: int = Field(0, ge=0, le=2**31 - 1)
    name: str | None = Field(None, min_length=1, max_length=80, pattern=PLAIN)


class Group(BaseModel):
    """A cluster as people call it; numbers begin at 1."""

    number: int
    name: str
    size: int


class Card(BaseModel):
    """An item as it is shown; `rows` are a table's columns and values, `text` are its words.

    Where there is more to see `behind` it, it is a part of a photo. `faces` are other members of
    its `group`, the surest first; the card of the item that is to be placed has only those that
    answers have joined with it.
    """

    item: int
    id: str
    rows: list[tuple[str, str]] = []
    text: str = ""
    behind: bool = False
    group: Group | None = None
    faces: list[int] = []


class Question(BaseModel):
    """What is asked: `item` against the one other, or against each of several."""

    shape: Literal["pair", "strip", "wall", "board", "second", "test"]
    item: Card
    others: list[Card]
    seq: int
    reason: str
    numbers: dict[str, float]
    late: bool


class ReceiptOut(BaseModel):
    """Proof that something is in the log; `seq` is 0 where nothing had to be written."""

    seq: int
    hash: str
    recorded: bool


class Asking(BaseModel):
    """Question; none because everything is settled, or because it is still being worked out."""

    question: Question | None
    finished: bool
    reached: bool = Field(False, description="Whether the goal is reached with confidence.")
    stopped: str = Field("", description="Why nothing is computed any more, and what to do.")


class Taken(Asking):
    """Receipts, and the next question if there is one and it could be found now."""

    receipts: list[ReceiptOut]
    message: str = ""


class ArrangedOut(BaseModel):
    """Receipts of an act on groups, and what it did in a sentence."""

    receipts: list[ReceiptOut]
    message: str
    answers: int
    taken_back: int
    disputed: int = Field(description="Answers that go against what others said.")


class Problem(BaseModel):
    """What went wrong, in one sentence."""

    detail: str
    question: Question | None = None
    finished: bool = False
    chain: list[int] = []
    retryable: bool = False


class SessionOut(BaseModel):
    """Facts of the session and how far the first clustering is."""

    id: str
    name: str
    data: str
    kind: str
    question: str = Field(description="What is asked of two items, in words.")
    crisp: bool
    items: int
    spec: dict[str, Any]
    phase: Literal["preparing", "ready", "cancelled", "failed"]
    stage: str
    done: int
    total: int
    message: str
    usable: bool
    version: str
    formats: list[str]


class Ahead(BaseModel):
    """Items that the next question may show."""

    ready: bool
    items: list[int]


class Labels(BaseModel):
    """Clusters, one per item in the order of the data."""

    ids: list[str]
    labels: list[int]
    names: dict[int, str]
    seq: int
    fresh: bool
