"""A hook of MkDocs: the site has the files outside docs/ to which pages link, such as results of proofs.

A link `../results/x.md` is right in the repository. The site has no folder above its pages, so that it gets a copy at
`results/x.md`, and the link leads there. Links of a copied page to further files of the repository become plain text.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File, InclusionLevel

LINK = re.compile(r"\[([^\]\n]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def on_files(files, config):
    """Add what pages link to."""
    root = Path(config.docs_dir).parent
    for page in list(files.documentation_pages()):
        for _, target, _ in LINK.findall(page.content_string):
            name = outside(page, target)
            if name and (root / name).is_file() and not files.get_file_from_path(name):
                source = str(root / name)
                files.append(File.generated(config, name, abs_src_path=source, inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(markdown, page, config, files):
    """Lead links to the copies."""

    def led(match):
        text, target, anchor = match.groups()
        copied = page.file.generated_by is not None
        name = outside(page.file, target)
        if copied and not files.get_file_from_path(beside(page.file, target)):
            return text
        return f"[{text}]({posixpath.relpath(name, folder(page.file))}{anchor or ''})" if name else match[0]

    return LINK.sub(led, markdown)


def outside(page, target):
    """The path from the repository's root of what a link leads to; None if it is in docs/."""
    path = beside(page, target)
    return path.removeprefix("../") if path.startswith("../") else None


def beside(page, target):
    """The path from docs/ of what a link of a page leads to."""
    return posixpath.normpath(posixpath.join(folder(page), target))


def folder(page):
    """The folder of a page, from docs/ on."""
    return posixpath.dirname(page.src_uri) or "."
