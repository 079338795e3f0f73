"""The results of a search as JUnit XML, which pipelines show as tests: a test per rule."""

from collections.abc import Sequence
from xml.etree import ElementTree

from ccmatic import records
from ccmatic.judging.subjects import run_command
from ccmatic.judging.verdicts import measured_words


def junit_xml(subject: str, lines: Sequence[records.SearchedLine], seconds: float) -> str:
    """Return JUnit XML with a test case per rule.

    The test of a broken rule fails. The test of a rule that applies to no run is skipped.
    """
    counts = {verdict: sum(line.verdict == verdict for line in lines) for verdict in ("broken", "not asked")}
    suite = ElementTree.Element(
        "testsuite",
        name=f"ccmatic judge {subject}",
        tests=str(len(lines)),
        failures=str(counts["broken"]),
        errors="0",
        skipped=str(counts["not asked"]),
        time=f"{seconds:.3f}",
    )
    for line in lines:
        case = ElementTree.SubElement(suite, "testcase", classname=f"judge.{subject}", name=line.rule, time="0")
        if line.verdict == "broken":
            message = f"{measured_words(line)}; expected {line.threshold}"
            failure = ElementTree.SubElement(case, "failure", message=message)
            failure.text = run_command(line.subject, str(line.witness))
        elif line.verdict == "not asked":
            ElementTree.SubElement(case, "skipped", message="no run meets the premises of the rule")
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
