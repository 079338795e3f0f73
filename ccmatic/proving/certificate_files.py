"""The files of certificates. These files lie in a folder beside the file of their proof."""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ccmatic.answers.verification import HOLDS
from ccmatic.base import InputError, opened, writable_folder, write_bytes
from ccmatic.contracts import file_stem
from ccmatic.logic import certificates
from ccmatic.proving.prover import Prover
from ccmatic.proving.result import Result

#: The largest size of an unpacked certificate, in bytes.
LARGEST = 100 * 10**6


def certificate_file(result: Result, lemma: str) -> Path:
    """Return the path of a lemma's certificate. The file need not exist."""
    if result.file is None:
        raise ValueError("a result without a file has no certificates")
    return result.file.with_name(f"{result.file.stem}-certificates") / f"{file_stem(lemma)}.json.gz"


def make_certificates(result: Result, prover: Prover, names: Iterable[str]) -> Iterator[str]:
    """Write the missing certificates, and yield the name of each lemma that gets a certificate.

    A lemma gets a certificate if it holds and the proof rests on it.
    """
    for name in names:
        lemma, file = prover.lemmas[name], certificate_file(result, name)
        if result.answers[name].verdict == HOLDS and not lemma.paper and not file.exists():
            made = certificates.certify(prover.question(lemma, result.values))
            writable_folder(file.parent)
            write_bytes(file, gzip.compress(json.dumps(made, separators=(",", ":")).encode(), mtime=0))
            yield name


def read_certificate(file: Path) -> Any:
    """Return the JSON data of a certificate. Raise InputError if the file contains none."""
    with opened(file) as stored:
        try:
            text = gzip.GzipFile(fileobj=stored).read(LARGEST + 1)
            if len(text) > LARGEST:
                raise InputError(f"no certificate: larger than {LARGEST // 10**6} MB, unpacked", str(file))
            return json.loads(text)
        except (ValueError, EOFError, zlib.error, gzip.BadGzipFile, RecursionError) as error:
            raise InputError(f"no certificate: {error}", str(file)) from None
