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
Shape = Annotated[Literal["pair", "strip"], Field(description="Two items, or one and a strip.")]
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
    """Which of the exemplars an item belongs to."""

    item: Item
    options: list[Item] = Field(min_length=1, max_length=9)
    choice: Item | None
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
    """A name for the cluster that an item is in."""

    item: Item
    name: str = Field(min_length=1, max_length=80, pattern=PLAIN)


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


class Card(BaseModel):
    """An item as it is shown; `rows` are a table's columns and values, `text` are its words."""

    item: int
    id: str
    rows: list[tuple[str, str]] = []
    text: str = ""


class Question(BaseModel):
    """What is asked: `item` against the one other, or against each of the strip."""

    shape: Literal["pair", "strip", "second"]
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
    stopped: str = Field("", description="Why nothing is computed any more, and what to do.")


class Taken(Asking):
    """Receipts, and the next question if there is one and it could be found now."""

    receipts: list[ReceiptOut]
    message: str = ""


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
