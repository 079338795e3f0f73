"""The files of certificates, which stand in a folder beside the file of their proof."""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ccmatic import certificates
from ccmatic.base import InputError, opened, writable_folder, write_bytes
from ccmatic.contracts import file_stem
from ccmatic.proving.prover import Prover
from ccmatic.proving.result import Result
from ccmatic.verification import HOLDS

#: Bytes of a certificate, unpacked, at most.
LARGEST = 100 * 10**6


def certificate_file(result: Result, lemma: str) -> Path:
    """Return the path of a lemma's certificate, by the lemma's name; the file may not exist."""
    if result.file is None:
        raise ValueError("a result that is in no file has no certificates")
    return result.file.with_name(f"{result.file.stem}-certificates") / f"{file_stem(lemma)}.json.gz"


def make_certificates(result: Result, prover: Prover, names: Iterable[str]) -> Iterator[str]:
    """Write a certificate of each of these lemmas that holds, is not the paper's and has none yet; yields its name."""
    for name in names:
        lemma, file = prover.lemmas[name], certificate_file(result, name)
        if result.answers[name].verdict == HOLDS and not lemma.paper and not file.exists():
            made = certificates.certify(prover.question(lemma, result.values))
            writable_folder(file.parent)
            write_bytes(file, gzip.compress(json.dumps(made, separators=(",", ":")).encode(), mtime=0))
            yield name


def read_certificate(file: Path) -> Any:
    """Return what the file of a certificate says. Raises InputError if it is none."""
    with opened(file) as stored:
        try:
            text = gzip.GzipFile(fileobj=stored).read(LARGEST + 1)
            if len(text) > LARGEST:
                raise InputError(f"no certificate: larger than {LARGEST // 10**6} MB, unpacked", str(file))
            return json.loads(text)
        except (ValueError, EOFError, zlib.error, gzip.BadGzipFile, RecursionError) as error:
            raise InputError(f"no certificate: {error}", str(file)) from None
