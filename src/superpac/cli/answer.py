"""``superpac answer``: a script or a model answers as one more annotator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from superpac.cli import common
from superpac.cli.sessions import load_session, opened

if TYPE_CHECKING:
    from superpac.session.session import Session
    from superpac.simulation.loop import AnswerLoop


def answer(
    session: common.SessionArgument,
    function: Annotated[
        str,
        typer.Option(
            "--with",
            metavar="MODULE:FUNCTION",
            help="Takes two items; gives 'same', 'different', 'unsure', or None to leave it to "
            "people. FILE.py:FUNCTION is fine too.",
        ),
    ],
    annotator: Annotated[
        str,
        typer.Option(
            "--as", callback=common.check_annotator, help="Its name; the function's by default."
        ),
    ] = "",
    questions: Annotated[
        int, typer.Option("--questions", "-q", min=1, help="At most so many.")
    ] = 200,
    until: common.UntilOption = None,
    data: common.MovedOption = None,
    store: common.StoreOption = None,
    as_json: common.JsonOption = False,
) -> None:
    """Let a function of yours answer SESSION's questions, as one more annotator."""
    from superpac.session.stopping import parse_share
    from superpac.system.named_function import load_function

    enough = None if until is None else parse_share(until)
    found = load_function(function)
    name = annotator or function.rpartition(":")[2]
    with opened(store) as kept:
        from superpac.simulation.loop import AnswerLoop
        from superpac.simulation.machine import MachineOracle

        current = load_session(kept, session, data)
        loop = AnswerLoop(
            current,
            MachineOracle(found, current.data, name),
            questions,
            until=enough,
            annotator=name,
            passes=True,
        )
        stopped = _run(loop, questions, quiet=as_json)
        report = _report(current, loop, name)
    if as_json:
        common.print_json(report)
    else:
        _say(report, session)
    if stopped:
        raise typer.Exit(130)


def _run(loop: AnswerLoop, questions: int, *, quiet: bool) -> bool:
    """Answer until the loop ends; whether Ctrl+C ended it, which costs no answer given before."""
    with common.Stages(quiet) as stages, stages.stage("answers", questions) as progress:
        try:
            for step in loop:
                progress(step.number, questions)
        except KeyboardInterrupt:
            loop.ended = "stopped"
            return True
    return False


def _report(current: Session, loop: AnswerLoop, name: str) -> dict[str, Any]:
    """What the function has answered in this session so far, and how well."""
    from superpac.answers.state import counts

    state = current.state
    mine = [link for link in state.answers if link.annotator == name]
    wrong = current.strategy.reliability(state).by.get(name)
    return {
        "session": current.log.info.name,
        "annotator": name,
        "answers": len(mine),
        **counts(mine),
        "passed": len(loop.passed),
        "wrong": None if wrong is None else round(wrong, 4),
        "ended": loop.ended,
        "left_to_others": loop.ended == "nothing left to ask" and current.ask() is not None,
    }


def _say(report: dict[str, Any], session: str) -> None:
    tally = ", ".join(f"{report[word]} {word}" for word in ("same", "different", "unsure"))
    wrong = report["wrong"]
    rate = "" if wrong is None else f"; about {wrong:.1%} of it is wrong"
    common.say(f"{report['annotator']} has answered {report['answers']}: {tally}{rate}.")
    if report["passed"]:
        common.say(f"It has left {report['passed']} to people.")
    ending = "what is left is for people" if report["left_to_others"] else report["ended"]
    common.say(f"Ended: {ending}. People go on with: superpac ask {session}")
