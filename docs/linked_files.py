"""A hook of MkDocs that copies files outside docs/ to the site if pages link to them, such as results of proofs.

A link `../results/x.md` is right in the repository. The site has no folder above its pages, so it gets a copy at
`results/x.md`, and the hook redirects the link there. Links from a copied page to further files of the repository
become plain text. A notebook becomes a page with its outputs.
"""

import posixpath
import re
from pathlib import Path

import notebook_page
from mkdocs.structure.files import File, InclusionLevel

LINK = re.compile(r"\[([^\[\]]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def on_files(files, config):
    """Add the files to which pages link."""
    root = Path(config.docs_dir).parent
    for page in list(files.documentation_pages()):
        for _, target, _ in LINK.findall(page.content_string):
            name = outside(page, target)
            if name and (root / name).is_file() and not files.get_file_from_path(copy(name)):
                made = {"abs_src_path": str(root / name)}
                if copy(name) != name:
                    made = {"content": notebook_page.page(root / name)}
                files.append(File.generated(config, copy(name), inclusion=InclusionLevel.NOT_IN_NAV, **made))
    return files


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
    return name.removesuffix(".ipynb") + ".md" if name.endswith(".ipynb") else name


def beside(page, target):
    """Return the target of a page's link, relative to docs/."""
    return posixpath.normpath(posixpath.join(folder(page), target))


def folder(page):
    """Return the folder of a page, relative to docs/."""
    return posixpath.dirname(page.src_uri) or "."
