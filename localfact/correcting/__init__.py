"""Corrections of contradicted claims: the smallest edit of the text's own words that the deciding sentence bears out."""
