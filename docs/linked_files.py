"""A hook of MkDocs that copies files outside docs/ to the site if pages link to them, such as results of proofs.

A link `../results/x.md` is right in the repository. The site has no folder above its pages, so it gets a copy at
`results/x.md`, and the hook redirects the link there. Links from a copied page to further files of the repository
become plain text. A notebook becomes a page with its outputs, and the file of a proof becomes the report on the proof.
"""

import posixpath
import re
import tempfile
from pathlib import Path

import notebook_page
from mkdocs.structure.files import File, InclusionLevel

from ccmatic.proving import load_result
from ccmatic.proving.prover import Prover
from ccmatic.proving.report import write_report

PAGE = re.compile(r"(.*)\.ipynb|(results/(?:proofs|fronts)/[^/]*)\.json")
LINK = re.compile(r"\[([^\[\]]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def on_files(files, config):
    """Add the files to which pages link."""
    root = Path(config.docs_dir).parent
    for page in list(files.documentation_pages()):
        for _, target, _ in LINK.findall(page.content_string):
            name = outside(page, target)
            if name and (root / name).is_file() and not files.get_file_from_path(copy(name)):
                for made, content in contents(root, name).items():
                    files.append(File.generated(config, made, content=content, inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def contents(root, name):
    """Return the content of each file that the site gets for a file of the repository, by its path in the site."""
    if copy(name) == name:
        return {name: (root / name).read_bytes()}
    if name.endswith(".ipynb"):
        return {copy(name): notebook_page.page(root / name)}
    result = load_result(root / name)
    with tempfile.TemporaryDirectory() as folder:
        result.file = Path(folder) / result.file.name
        write_report(result, Prover(result.proof, result.controller, result.horizon))
        return {posixpath.dirname(name) + f"/{file.name}": file.read_bytes() for file in Path(folder).iterdir()}


def on_page_markdown(markdown, page, config, files):
    """Redirect links to the copies."""

    def redirected(match):
        text, target, anchor = match.groups()
        copied = page.file.generated_by is not None
        name = outside(page.file, target)
        if copied and not files.get_file_from_path(beside(page.file, target)):
            return text
        return f"[{text}]({posixpath.relpath(copy(name), folder(page.file))}{anchor or ''})" if name else match[0]

    return LINK.sub(redirected, markdown)


def outside(page, target):
    """Return the target of a link, relative to the repository's root; None if it is in docs/."""
    path = beside(page, target)
    return path.removeprefix("../") if path.startswith("../") else None


def copy(name):
    """Return the path of a file in the site, given its path in the repository."""
    page = PAGE.fullmatch(name)
    return f"{page[1] or page[2]}.md" if page else name


def beside(page, target):
    """Return the target of a page's link, relative to docs/."""
    return posixpath.normpath(posixpath.join(folder(page), target))


def folder(page):
    """Return the folder of a page, relative to docs/."""
    return posixpath.dirname(page.src_uri) or "."
