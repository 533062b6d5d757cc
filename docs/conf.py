"""How the documents are built: `make docs`."""

import importlib.metadata
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
project = "landmarks"
author = "the landmarks developers"
copyright = f"2026, {author}"  # Sphinx reads this name
release = version = importlib.metadata.version("landmarks")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "mathml",
    "members",
    "parameters",
    "subscripts",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "gallery/**/*.py.md5", "gallery/**/*.ipynb", "gallery/**/*.zip"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
html_math_renderer = "mathml"
myst_heading_anchors = 3
suppress_warnings = [
    "myst.xref_missing"
]  # links to files outside docs/ are checked by tests/docs/test_pages.py
autosummary_generate = True
templates_path = ["_templates"]
default_role = "py:obj"
autodoc_typehints = "none"
copybutton_prompt_text = r">>> |\.\.\. "  # neither prompts nor results are copied
copybutton_prompt_is_regexp = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "show_memory": False,
    "write_computation_times": False,  # a page that loads scripts from elsewhere
    "download_all_examples": False,
    "reference_url": {"landmarks": None},
    "ignore_pattern": r"first_minutes",  # a page of its own
    "within_subsection_order": "wanted.WantedOrder",
}
html_theme = "furo"
html_title = "landmarks"
# Links to the repository and its issues, where [project.urls] of pyproject.toml has them.
about = importlib.metadata.metadata("landmarks").get_all("Project-URL") or []
urls = dict(entry.split(", ", 1) for entry in about)
html_theme_options = {}
if "Repository" in urls:
    html_theme_options["source_repository"] = urls["Repository"]
    html_theme_options["source_branch"] = "main"
    html_theme_options["source_directory"] = "docs/"
if "Issues" in urls:
    html_theme_options["announcement"] = f'<a href="{urls["Issues"]}">Report a bug</a>'
html_static_path = ["_static"]
html_css_files = ["landmarks.css"]
html_copy_source = False
warnings.filterwarnings("ignore", category=DeprecationWarning, module="sphinx")
