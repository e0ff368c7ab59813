from scripts.api_page import PAGE, page


def test_the_page_of_public_names_is_what_their_docstrings_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m scripts.api_page writes it again"
