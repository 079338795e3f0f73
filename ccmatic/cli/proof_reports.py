"""What `prove` and `check` print."""

import json
from dataclasses import asdict

import click
from rich.console import Console

from ccmatic.proving import OF_NONE, Listener, number
from ccmatic.verification import HOLDS


class Progress(Listener):
    """Lines for people, and what is being asked, or JSON lines, as a proof goes on."""

    def __init__(self, as_json):
        self._as_json = as_json
        self._status = Console(stderr=True).status("")

    def __enter__(self):
        if not self._as_json:
            self._status.start()
        return self

    def __exit__(self, *_):
        self._status.stop()

    def begins(self, proof):
        """Constants are told with what they say."""
        self._constants = {constant.name: constant for constant in proof.constants}

    def asks(self, lemma, values):
        """A lemma is being asked for values of the constants that it reads."""
        at = ", ".join(f"{name} = {float(value):g}" for name, value in values.items())
        self._status.update(f"{lemma}{' at ' if at else ''}{at}")

    def constant(self, name, found):
        """A constant was found."""
        declared, edge = self._constants[name], found.edge
        self._say(
            {
                "constant": name,
                "value": str(found.value),
                "paper": declared.paper,
                "front": [[str(other), best and str(best)] for other, best in found.front],
                "limited_by": edge and edge.lemma,
            },
            f"{name:<20} {number(found.value):<8} {declared.says}; the paper: {declared.paper}"
            + (f"\n{'':<30}one better breaks '{edge.lemma}'" if edge else ""),
        )

    def lemma(self, answer):
        """A lemma was decided."""
        empty = {"empty": True} if answer.empty else {}
        self._say(
            {"lemma": answer.lemma, "verdict": answer.verdict, "seconds": round(answer.seconds, 3), **empty},
            f"{answer.verdict:<9} {answer.seconds:6.1f} s  {answer.lemma}{OF_NONE if empty else ''}",
        )

    def certificate(self, name):
        """A lemma has been certified."""
        self._say({"certified": name}, f"certified            {name}")

    def end(self, proved):
        """The proof is over."""
        file, claim, holds = proved.file, list(proved.claim), proved.verdict == HOLDS
        told = claim if holds else [*proved.faults, "no proof: not every lemma holds"]
        text = "\n".join(["", *told, "", f"written: {file} and {file.with_suffix('.md').name}"])
        summary = {"summary": True, "proved": holds, "faults": list(proved.faults), "claim": claim}
        self._say({**summary, "result": str(file)}, text)

    def _say(self, data, text):
        click.echo(json.dumps(data, ensure_ascii=False) if self._as_json else text)


def finding(found, as_json):
    """A line of `check`."""
    if as_json:
        return json.dumps(asdict(found), ensure_ascii=False)
    mark = "unknown" if found.unknown else "FAULT" if found.fault else "ok" if found.checked else "not checked"
    return f"{mark:<11} {found.about}: {found.fault or found.how}"


def verdict(file, verdict, as_json):
    """The last line of `check`; verdict: accepted, rejected or unknown."""
    if as_json:
        return json.dumps({"summary": True, "proof": str(file), "accepted": verdict == "accepted", "verdict": verdict})
    return f"{file}: {verdict}"
